//! Which columns of a table are numbers to read, and which hold the labels and the weights.
//!
//! A column is asked for by name, by number from 0, or with others as a range of numbers, `2-5`,
//! both ends included. A name that exists wins over a number, so a column called `3` is found. A
//! name that several columns have means none of them: they have their numbers.
//!
//! A first column without a name, or called `Unnamed: 0`, and one called `__index_level_0__`, is
//! the index of a data frame, which pandas and R write along: it is not read unless it is asked
//! for, and the source says so.
//!
//! Rows for a model come in the order of the model's columns, whichever order was asked for.
//!
//! A column asked for by itself must not also be the label or the weight; ranges, and the default,
//! which is all columns, leave those two out. A column of a model is read even if it is the label.

use std::collections::{HashMap, HashSet};

use crate::io::source::{Notice, ReadOptions, SourceError};

/// The columns of a table by their numbers.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Choice {
    /// The columns to read as numbers, in order.
    pub(super) features: Vec<usize>,
    /// The column of labels.
    pub(super) label: Option<usize>,
    /// The column of weights.
    pub(super) weight: Option<usize>,
    /// Columns that were left out because they look like an index.
    index: Vec<String>,
    /// Names that several of the columns to read have.
    shared_names: Vec<String>,
}

impl Choice {
    /// Chooses among this many columns, with or without names.
    pub(super) fn new(count: usize, names: Option<&[String]>, options: &ReadOptions) -> Result<Self, SourceError> {
        let table = Table::new(count, names);
        let label = options.label.as_deref().map(|asked| table.one(asked)).transpose()?;
        let weight = options.weight.as_deref().map(|asked| table.one(asked)).transpose()?;
        let mut left_out = HashSet::new();
        for asked in &options.exclude {
            left_out.extend(table.some(asked)?.0);
        }
        let used = |column: &usize| Some(*column) == label || Some(*column) == weight;
        let is_index = |column: &usize| !options.keep_index && table.is_index(*column);
        let all = || (0..count).filter(|column| !used(column) && !is_index(column));
        let nothing_else = all().next().is_none();

        let (mut features, mut index) = (Vec::new(), Vec::new());
        let mut seen = HashSet::new();
        let of_model = options.model_columns.as_ref().filter(|list| {
            let as_they_are = || all().filter(|column| !left_out.contains(column)).map(|column| table.name(column));
            list.iter().all(|name| table.places.contains_key(name.as_str())) && !as_they_are().eq(list.iter().cloned())
        });
        let numbered = options.numbered.iter().find_map(|prefix| {
            let names = (1..).map(|number| format!("{prefix}{number}"));
            let list: Vec<String> = names.take_while(|name| table.places.contains_key(name.as_str())).collect();
            (!list.is_empty()).then_some(list)
        });
        match options.columns.as_ref().or(of_model).or(numbered.as_ref()) {
            None if nothing_else => features.extend((0..count).filter(|column| !used(column))),
            None => {
                features.extend(all());
                index.extend(
                    (0..count).filter(|column| !used(column) && !left_out.contains(column) && is_index(column)),
                );
            }
            Some(list) => {
                for asked in list {
                    let (columns, single) = table.some(asked)?;
                    for column in columns.filter(|column| single || !used(column)) {
                        if options.columns.is_some() && used(&column) {
                            let role = if Some(column) == label { "labels" } else { "weights" };
                            return Err(SourceError::FeatureAndRole { column: table.name(column), role });
                        }
                        if !seen.insert(column) {
                            return Err(SourceError::ColumnTwice { column: table.name(column) });
                        }
                        features.push(column);
                    }
                }
            }
        }
        features.retain(|column| !left_out.contains(column));
        if let Some(model) = &options.model_columns {
            table.arrange(&mut features, model)?;
        }
        if features.is_empty() {
            return Err(SourceError::NothingLeft { available: table.all() });
        }
        let index = index.into_iter().map(|column| table.name(column)).collect();
        let shared_names = table.shared_names(&features);
        Ok(Self { features, label, weight, index, shared_names })
    }

    /// Notices for the user.
    pub(super) fn notices(&self) -> Vec<Notice> {
        let index = self.index.iter().map(|column| Notice::IndexColumn { column: column.clone() });
        let shared = (!self.shared_names.is_empty()).then(|| Notice::SharedNames { names: self.shared_names.clone() });
        index.chain(shared).collect()
    }
}

/// The columns there are.
struct Table<'a> {
    count: usize,
    names: Option<&'a [String]>,
    /// The numbers of each name.
    places: HashMap<&'a str, Vec<usize>>,
}

impl<'a> Table<'a> {
    fn new(count: usize, names: Option<&'a [String]>) -> Self {
        let mut places: HashMap<_, Vec<_>> = HashMap::new();
        for (column, name) in names.unwrap_or_default().iter().enumerate() {
            places.entry(name.as_str()).or_default().push(column);
        }
        Self { count, names, places }
    }

    fn name(&self, column: usize) -> String {
        self.names.and_then(|names| names.get(column)).map_or_else(|| column.to_string(), Clone::clone)
    }

    /// Whether a column has the name that an index has where a data frame was written to a file.
    fn is_index(&self, column: usize) -> bool {
        let name = self.names.and_then(|names| names.get(column)).map(String::as_str);
        match name {
            Some("" | "Unnamed: 0") => column == 0,
            Some(name) => name.starts_with("__index_level_") && name.ends_with("__"),
            None => false,
        }
    }

    fn all(&self) -> Vec<String> {
        (0..self.count).map(|column| self.name(column)).collect()
    }

    /// Names that several of these columns have, in order; to have none is no name.
    fn shared_names(&self, columns: &[usize]) -> Vec<String> {
        let mut seen = HashSet::new();
        let mut shared: Vec<String> = Vec::new();
        for name in columns.iter().filter_map(|&column| self.names?.get(column)) {
            if !name.is_empty() && !seen.insert(name) && !shared.contains(name) {
                shared.push(name.clone());
            }
        }
        shared
    }

    /// Puts columns into the order of a model's, if all have names of the model: a list its own,
    /// followed by `[0]`.
    fn arrange(&self, columns: &mut [usize], model: &[String]) -> Result<(), SourceError> {
        if columns.iter().map(|&column| self.name(column)).eq(model.iter().cloned()) {
            return Ok(());
        }
        let mut places = HashMap::new();
        for (place, name) in model.iter().enumerate() {
            places.entry(name.as_str()).or_insert(place);
        }
        let place = |column: &usize| {
            let name = self.name(*column);
            places.get(name.as_str()).or_else(|| places.get(format!("{name}[0]").as_str())).copied()
        };
        if columns.iter().all(|column| place(column).is_some()) {
            if let Some(name) = self.shared_names(columns).first() {
                return Err(self.ambiguous(name));
            }
            columns.sort_by_cached_key(place);
        }
        Ok(())
    }

    /// The error for a name that several columns have.
    fn ambiguous(&self, name: &str) -> SourceError {
        SourceError::DuplicateColumn {
            column: name.to_owned(),
            places: self.places.get(name).cloned().unwrap_or_default(),
        }
    }

    /// The column with this name or number.
    fn one(&self, asked: &str) -> Result<usize, SourceError> {
        let asked = if self.places.contains_key(asked) { asked } else { asked.trim() };
        let number = || asked.parse().ok().filter(|&column| column < self.count);
        let missing = || SourceError::NoColumn { column: asked.to_owned(), available: self.all() };
        match self.places.get(asked).map(Vec::as_slice) {
            None => number().ok_or_else(missing),
            Some(&[column]) => Ok(column),
            Some(_) => Err(self.ambiguous(asked)),
        }
    }

    /// The columns that a name, a number or a range means, and whether it is one column and no
    /// range.
    fn some(&self, asked: &str) -> Result<(std::ops::RangeInclusive<usize>, bool), SourceError> {
        let refused = match self.one(asked) {
            Ok(column) => return Ok((column..=column, true)),
            Err(refused @ SourceError::NoColumn { .. }) => refused,
            Err(ambiguous) => return Err(ambiguous),
        };
        let range = asked.split_once('-').and_then(|(first, last)| {
            let (first, last) = (first.trim().parse::<usize>().ok()?, last.trim().parse::<usize>().ok()?);
            (first <= last && last < self.count).then_some(first..=last)
        });
        range.map(|range| (range, false)).ok_or(refused)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(columns: &[&str], exclude: &[&str], label: Option<&str>) -> ReadOptions {
        let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        ReadOptions {
            columns: (!columns.is_empty()).then(|| list(columns)),
            exclude: list(exclude),
            label: label.map(Into::into),
            ..ReadOptions::default()
        }
    }

    #[test]
    fn a_name_wins_over_a_number_and_a_number_over_a_range() {
        let names = ["3", "b", "1-2", "d"].map(String::from);
        let chosen = |columns: &[&str]| Choice::new(4, Some(&names), &options(columns, &[], None)).map(|c| c.features);
        assert_eq!(chosen(&["3", "1-2", "1"]).ok(), Some(vec![0, 2, 1]));
        assert_eq!(chosen(&["2-3", "0-1"]).ok(), Some(vec![2, 3, 0, 1]));
        assert_eq!(chosen(&[" d", "b "]).ok(), Some(vec![3, 1]), "spaces around a name do not matter");
    }

    #[test]
    fn a_range_leaves_out_the_label_and_a_single_column_must_not_be_it() {
        let chosen = |columns: &[&str]| Choice::new(5, None, &options(columns, &["4"], Some("2"))).map(|c| c.features);
        assert_eq!(chosen(&[]).ok(), Some(vec![0, 1, 3]));
        assert_eq!(chosen(&["1-3"]).ok(), Some(vec![1, 3]));
        let error = chosen(&["2", "1"]).expect_err("2 is the label").to_string();
        assert_eq!(error, "cannot use the column `2` as a feature: it holds the labels");
    }

    #[test]
    fn the_columns_of_a_model_are_found_by_name_where_all_are_there() {
        let names = ["a", "b", "c", "c"].map(String::from);
        let chosen = |model: &[&str], columns: &[&str]| {
            let model = model.iter().map(|name| (*name).to_owned()).collect();
            let options = ReadOptions { model_columns: Some(model), ..options(columns, &[], None) };
            let features = |names| Choice::new(4, names, &options).map(|c| c.features).ok();
            (features(Some(&names[..])), features(None))
        };
        let all = Some(vec![0, 1, 2, 3]);
        assert_eq!(chosen(&["b", "a"], &[]), (Some(vec![1, 0]), all.clone()));
        assert_eq!(chosen(&["c", "z"], &[]), (all.clone(), all.clone()));
        assert_eq!(chosen(&["a", "b", "c", "c"], &[]), (all.clone(), all));
        assert_eq!(chosen(&["c", "a"], &["1"]), (Some(vec![1]), Some(vec![1])));
    }

    #[test]
    fn a_name_of_several_columns_means_none_of_them() {
        let names = ["a", "b", "a", "c"].map(String::from);
        let found = |model: &[&str], asked: ReadOptions| {
            let model = model.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
            let options = ReadOptions { model_columns: (!model.is_empty()).then_some(model), ..asked };
            Choice::new(4, Some(&names), &options).map(|choice| choice.features).map_err(|error| match error {
                SourceError::DuplicateColumn { column, places } => (column, places),
                other => panic!("{other}"),
            })
        };
        let ambiguous = || Err(("a".to_owned(), vec![0, 2]));
        let plain = ReadOptions::default;
        assert_eq!(found(&[], options(&["a"], &[], None)), ambiguous());
        assert_eq!(found(&[], options(&[], &["a"], None)), ambiguous());
        assert_eq!(found(&[], options(&[], &[], Some("a"))), ambiguous());
        assert_eq!(found(&[], ReadOptions { weight: Some("a".into()), ..plain() }), ambiguous());
        assert_eq!(found(&["c", "a"], plain()), ambiguous(), "which of the two is the model's?");
        assert_eq!(found(&["a", "a", "b", "c"], options(&["0-3"], &[], None)), ambiguous());
        assert_eq!(found(&["a", "b", "a", "c"], plain()), Ok(vec![0, 1, 2, 3]), "all of them, in the same order");
        assert_eq!(found(&["a", "b", "a", "c"], options(&["0-3"], &[], None)), Ok(vec![0, 1, 2, 3]));
        assert_eq!(found(&["c", "b"], plain()), Ok(vec![3, 1]), "the others do not matter");
        assert_eq!(found(&["c", "a"], options(&["2", "3"], &[], None)), Ok(vec![3, 2]), "chosen by number");
        assert_eq!(found(&[], plain()), Ok(vec![0, 1, 2, 3]));
        let notices =
            |exclude: &[&str]| Choice::new(4, Some(&names), &options(&[], exclude, None)).map(|c| c.notices());
        assert_eq!(notices(&[]).ok(), Some(vec![Notice::SharedNames { names: vec!["a".into()] }]));
        assert_eq!(notices(&["2"]).ok(), Some(vec![]));
    }

    #[test]
    fn the_index_of_a_data_frame_is_read_only_if_it_is_asked_for() {
        let chosen = |names: &[&str], columns: &[&str], options: ReadOptions| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            let columns = (!columns.is_empty()).then(|| columns.iter().map(|name| (*name).to_owned()).collect());
            let choice = Choice::new(names.len(), Some(&names), &ReadOptions { columns, ..options });
            choice.map(|choice| (choice.features, choice.index)).ok()
        };
        let plain = ReadOptions::default;
        let left_out = |name: &str, features: Vec<usize>| Some((features, vec![name.to_owned()]));
        assert_eq!(chosen(&["", "a", "b"], &[], plain()), left_out("", vec![1, 2]));
        assert_eq!(chosen(&["Unnamed: 0", "a"], &[], plain()), left_out("Unnamed: 0", vec![1]));
        assert_eq!(chosen(&["a", "__index_level_0__"], &[], plain()), left_out("__index_level_0__", vec![0]));
        for (names, columns, options, features) in [
            (["", "a", "b"], &["0-2"][..], plain(), vec![0, 1, 2]),
            (["", "a", "b"], &[], ReadOptions { keep_index: true, ..plain() }, vec![0, 1, 2]),
            (["", "a", "b"], &[], ReadOptions { label: Some("0".into()), ..plain() }, vec![1, 2]),
            (["", "a", "b"], &[], ReadOptions { exclude: vec!["0".into()], ..plain() }, vec![1, 2]),
            (["", "a", "b"], &[], ReadOptions { exclude: vec!["1-2".into()], ..plain() }, vec![]),
            (["a", "", "Unnamed: 0"], &[], plain(), vec![0, 1, 2]),
        ] {
            let found = chosen(&names, columns, options);
            assert_eq!(found, (!features.is_empty()).then_some((features, vec![])), "{names:?} {columns:?}");
        }
        assert_eq!(chosen(&[""], &[], plain()), Some((vec![0], vec![])), "there is nothing else to read");
        let of_model = |names: &[&str]| {
            let model_columns = Some(names.iter().map(|name| (*name).to_owned()).collect());
            chosen(&["", "a", "b"], &[], ReadOptions { model_columns, ..plain() })
        };
        assert_eq!(of_model(&["", "a", "b"]), Some((vec![0, 1, 2], vec![])), "the model was fitted with it");
        assert_eq!(of_model(&["a", "b"]), left_out("", vec![1, 2]));
    }

    #[test]
    fn columns_asked_for_come_in_the_order_of_the_model() {
        let chosen = |names: Option<&[String]>, model: &[&str], columns: &[&str]| {
            let model = model.iter().map(|name| (*name).to_owned()).collect();
            let options = ReadOptions { model_columns: Some(model), ..options(columns, &[], None) };
            Choice::new(4, names, &options).map(|c| c.features).ok()
        };
        let names = ["a", "b", "c", "v"].map(String::from);
        assert_eq!(chosen(Some(&names), &["a", "b", "c"], &["c", "b", "a"]), Some(vec![0, 1, 2]));
        assert_eq!(chosen(Some(&names), &["c", "a"], &["0", "2"]), Some(vec![2, 0]));
        assert_eq!(chosen(Some(&names), &["v[0]", "v[1]", "a"], &["a", "v"]), Some(vec![3, 0]));
        assert_eq!(chosen(Some(&names), &["v[0]", "v[1]", "c", "b", "a"], &[]), Some(vec![3, 2, 1, 0]));
        assert_eq!(chosen(None, &["2", "0"], &["0", "2"]), Some(vec![2, 0]));
        assert_eq!(chosen(None, &["x", "y"], &["1", "0"]), Some(vec![1, 0]), "names that are not the model's");
    }

    #[test]
    fn what_is_not_there_and_what_is_asked_twice_is_refused() {
        let refused = |columns: &[&str], exclude: &[&str]| {
            Choice::new(4, None, &options(columns, exclude, None)).map_err(|error| error.to_string()).err()
        };
        for unknown in ["4", "2-4", "3-1", "0-99999999999999999999999", "x", "-1", "1-", ""] {
            assert_eq!(refused(&[unknown], &[]), Some(format!("there is no column `{unknown}`")));
            assert_eq!(refused(&[], &[unknown]), Some(format!("there is no column `{unknown}`")));
        }
        assert_eq!(refused(&["0-2", "1"], &[]).as_deref(), Some("the column `1` is requested twice"));
        assert_eq!(refused(&["1"], &["0-3"]).as_deref(), Some("no column is left to read"));
    }
}

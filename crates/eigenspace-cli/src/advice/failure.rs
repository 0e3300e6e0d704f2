//! Hints for errors of the command itself.

#[cfg(feature = "explore")]
use std::io::ErrorKind;

use super::columns::single_column;
use crate::failure::{AS_ROWS_TWICE, Failure, listed};
use crate::{paths, shell, table};

/// What the user can do about an error of the command.
pub(super) fn on_a_failure(failure: &Failure) -> Option<String> {
    let text = match failure {
        Failure::Components { .. } => "use, for example, -k 50, -k 0.95 or -k all",
        Failure::Rank { .. } => "use, for example, --max-rank 100 or --max-rank all",
        Failure::Axes { .. } => "choose two components, for example --axes 1,2; only a scatter plot can have three",
        Failure::SameAxes { .. } => "choose different components, for example --axes 1,2",
        Failure::OptionOfOtherPlots { option, .. } => {
            return Some(format!("leave out {option}, or choose another kind of plot"));
        }
        Failure::OptionWithoutRows { option } => {
            return Some(format!("leave out {option}, or pass rows after the model"));
        }
        Failure::OptionOfOtherFormats { option, given: Some(given), .. } => {
            return Some(format!(
                "leave out {option}, or leave out --format {given} to infer the format from the file name"
            ));
        }
        Failure::OptionOfOtherFormats { option, .. } => {
            return Some(format!(
                "leave out {option}; if the format was inferred wrongly from the file name, set it with --format"
            ));
        }
        Failure::LabelsInArray { .. } => {
            "write to a .csv, .tsv or .parquet file, or leave out the column with --exclude instead of --label"
        }
        Failure::UselessWeights { .. } => "leave out --weights",
        Failure::OtherColumns { .. } | Failure::OtherOrder { .. } => {
            "fit both models on the same columns in the same order; set the order with --columns"
        }
        Failure::OtherDepth { .. } => {
            "convert all images to the same number of bits per value, and fit both models again"
        }
        Failure::ModelColumn { available, column, .. } => {
            return Some(single_column(available, column).unwrap_or_else(|| {
                format!("add the column, or rename the column that holds it; the file has: {}", listed(available))
            }));
        }
        Failure::ModelExcluded { column, .. } => {
            return Some(format!("leave out {}", shell::list_option("--exclude", column)));
        }
        Failure::ModelForRows { .. } => {
            "pass rows here, for example a table or a directory of images; to combine models, use `eigenspace merge`"
        }
        Failure::NotChosen { .. } => "leave out --columns: the columns of the model are found by name",
        Failure::ManyScores { .. } => {
            "pass the output of `eigenspace project`; if it has columns of distances, write it to .csv (with its header) \
             or .parquet, because these columns are recognized by name"
        }
        Failure::ScoreCount { path, wanted, .. } if paths::is_array(path) => {
            return Some(format!(
                "leave out -k to use all scores; to use {wanted}, run `eigenspace project` again with -k {wanted}"
            ));
        }
        Failure::ScoreCount { .. } => {
            "leave out -k to use all scores; to use only some of them, choose them, for example --columns PC1,PC2"
        }
        Failure::ColumnOrder { .. } => "put the columns into the order of the model",
        Failure::MaybeDistances { columns, .. } => {
            return Some(format!(
                "let `eigenspace project` write the scores to .csv or .parquet, which keep the names, or leave out --distances; \
                 if all {columns} columns are scores, use -k {columns}"
            ));
        }
        Failure::NotScores { .. } => {
            "the columns of scores must be PC1, PC2, … (or W1, W2, …), in this order and without gaps; leave out \
             --columns and --exclude if you used them"
        }
        Failure::RowsForScores { .. } => "compute the scores of the rows first, with `eigenspace project`",
        Failure::NotWhitened { .. } => "leave out --whiten",
        Failure::NoFile | Failure::NoModelFile => "pass a file name instead of `-`",
        Failure::Size { .. } => "use, for example, 92x112",
        Failure::SizeLimit { .. } => "use a smaller width and height",
        Failure::Delimiter { .. } => "use, for example, --delimiter ';' or --delimiter tab",
        Failure::OutOfMemory { hint, .. } => hint,
        Failure::NoThreads { .. } => "use fewer threads with --threads, or raise the limits on memory and processes",
        Failure::Internal { .. } => "include the command in the report and, if you can, the data",
        Failure::OverInput { .. } => "write to another file with -o; nothing was changed",
        Failure::CheckpointOverInput { .. } | Failure::CheckpointIsOutput { .. } | Failure::NotACheckpoint { .. } => {
            "use another file with --checkpoint; nothing was changed"
        }
        Failure::NoRows { hint, .. } | Failure::AllLeftOut { hint, .. } => hint,
        Failure::WeightCount { .. } => "pass exactly one weight for each row",
        Failure::NeverObserved { exclude: Some(exclude), .. } => return Some(format!("leave it out with {exclude}")),
        Failure::NeverObserved { .. } => "remove the column from the data",
        Failure::NoVariance { .. } => "use `eigenspace update` to add rows that are not all equal",
        Failure::OtherInput { .. } => {
            "pass the same files and options as in the interrupted fit, or remove the checkpoint to start over"
        }
        Failure::BrokenCheckpoint { .. } => {
            "remove it to start over; only the version that wrote a checkpoint can resume from it"
        }
        Failure::PassesOfInput { .. } => "save the rows to a file first, or leave out --passes",
        Failure::PassesOfFilled => "use --missing skip, or leave out --passes",
        Failure::CheckpointOfInput => "save the rows to a file first, or leave out --checkpoint",
        Failure::NoImages => "set the size of the images with --shape WIDTHxHEIGHT",
        Failure::NoNames => "fit the model on a table with a header",
        Failure::NoData { .. } => "pass the rows after the model: eigenspace plot KIND MODEL DATA",
        #[cfg(feature = "explore")]
        Failure::StandardizeModel => "leave out --standardize, or pass only rows, so that a model is fitted to them",
        Failure::InputTwice { passed: AS_ROWS_TWICE } => "pass `-` only once",
        Failure::InputTwice { .. } => "save the rows to a file first",
        #[cfg(feature = "explore")]
        Failure::NoDirectory { path } if path.exists() => "pass a directory with --write",
        #[cfg(feature = "explore")]
        Failure::NoDirectory { path } => {
            return Some(format!("make the directory first: mkdir -p {}", shell::file(path)));
        }
        Failure::FewFaces { least, .. } => {
            return Some(format!(
                "pass at least {least} images, arranged as person/image.pgm, or leave out --faces to fetch the ORL faces"
            ));
        }
        Failure::IsRecognizer { .. } => {
            "add images with `eigenspace faces enroll`, or write the model to another file with -o"
        }
        Failure::NotAModel { .. } => "write to another file with -o, or delete this one first; nothing was changed",
        Failure::CheckpointInUse { .. } => "wait until the other fit has ended, or use another file with --checkpoint",
        Failure::NothingNamed { .. } => {
            "leave out the option to use its default, or see --help for the possible values"
        }
        Failure::Output { .. } => "check where standard output goes; all output files were written",
        Failure::Noise { .. } => "try --denoising 25",
        Failure::NoRow { rows: Some(1), .. } => "choose row 0",
        Failure::NoRow { rows: Some(rows @ 2..), .. } => return Some(format!("choose a row from 0 to {}", rows - 1)),
        Failure::NoRow { .. } => "choose a smaller row number; the first row is 0",
        Failure::PlotFormat { .. } => "use a name that ends in .svg or .png",
        Failure::FewDirections { rank: 1, .. } => "use -k 1",
        Failure::FewDirections { rank, .. } => return Some(format!("use -k with a number from 1 to {rank}")),
        Failure::NoComponent { wanted: 0, .. } => "count components from 1",
        Failure::NoComponent { wanted, rank, .. } if wanted <= rank => return Some(format!("use -k {wanted}")),
        Failure::NoComponent { reported, .. } if *reported > 1 => {
            return Some(format!("choose components from 1 to {reported}"));
        }
        Failure::NoComponent { rank, .. } => {
            return Some(format!(
                "the model keeps only {}; choose another kind of plot, or fit a model with more columns and rows",
                table::counted(*rank as u64, "direction")
            ));
        }
        Failure::Shape { .. } => {
            "choose a width and height whose product (times 3 for color) is the number of features"
        }
        Failure::OtherShape { .. } => "leave out --shape",
        Failure::ForgottenTwice { what, .. } => return Some(format!("name each {what} once")),
        #[cfg(feature = "explore")]
        Failure::Listen { source, .. } => match source.kind() {
            ErrorKind::PermissionDenied => {
                "use a port of 1024 or more with --port, or leave out --port to use a free one"
            }
            ErrorKind::AddrInUse => "choose another port with --port, or leave out --port to use a free one",
            ErrorKind::AddrNotAvailable => "use an address of this machine with --bind, or leave out --bind",
            _ => return None,
        },
        #[cfg(feature = "explore")]
        Failure::View { .. } => "put the view in quotation marks, or leave out --state",
        Failure::Advised(advised) => return Some(advised.hint.clone()),
    };
    Some(text.into())
}

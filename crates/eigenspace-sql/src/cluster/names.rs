//! Names of tables that survive the trip to a scheduler: `'rows.csv'` becomes `'./rows.csv'`.
//!
//! DataFusion sends the table of a column as text without quotes. The text `rows.csv` is read as
//! the table `csv` in the schema `rows`. Text that is no identifier, such as a path with a slash,
//! is read as it is.

use std::ops::ControlFlow;

use datafusion::common::TableReference;
use datafusion::sql::parser::{CopyToSource, Statement};
use datafusion::sql::sqlparser::ast::{
    Expr, Ident, ObjectName, ObjectNamePart, VisitMut, visit_expressions_mut, visit_relations_mut,
};

/// Changes the names of files in a statement, and columns that are qualified with them.
pub(super) fn keep(statement: &mut Statement) {
    match statement {
        Statement::Statement(statement) => keep_in(&mut **statement),
        Statement::Explain(explain) => keep(&mut explain.statement),
        Statement::CopyTo(copy) => match &mut copy.source {
            CopyToSource::Query(query) => keep_in(&mut **query),
            CopyToSource::Relation(name) => keep_name(name),
        },
        Statement::CreateExternalTable(_) | Statement::Reset(_) => {}
    }
}

fn keep_in(tree: &mut impl VisitMut) {
    let _ = visit_relations_mut(tree, |name| {
        keep_name(name);
        ControlFlow::<()>::Continue(())
    });
    let _ = visit_expressions_mut(tree, |expression| {
        if let Expr::CompoundIdentifier(parts) = expression
            && let [table, _] = parts.as_mut_slice()
        {
            keep_part(table);
        }
        ControlFlow::<()>::Continue(())
    });
}

fn keep_name(name: &mut ObjectName) {
    if let [ObjectNamePart::Identifier(part)] = name.0.as_mut_slice() {
        keep_part(part);
    }
}

/// Only a name in quotes that contains a dot can be a file.
fn keep_part(part: &mut Ident) {
    let name = &part.value;
    let is_file = part.quote_style.is_some() && name.contains('.');
    if is_file && TableReference::from(name.as_str()) != TableReference::bare(name.as_str()) {
        part.value = format!("./{name}");
    }
}

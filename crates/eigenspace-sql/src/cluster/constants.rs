//! Queries in parentheses that are constants: they run first, and the plan gets their results.
//!
//! ```text
//! pca_t2((SELECT pca(…) FROM …), x)   ─►   pca_t2(model, x)
//! ```
//!
//! Ballista would join the result to every row, which copies a model for every row.

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::error::Result;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{Expr, LogicalPlan, Subquery};
use datafusion::prelude::SessionContext;
use datafusion::scalar::ScalarValue;

use crate::error::Error;

/// The plan in which constants have been computed on the cluster.
pub(super) async fn computed(context: &SessionContext, plan: LogicalPlan) -> Result<LogicalPlan> {
    if matches!(plan, LogicalPlan::Explain(_) | LogicalPlan::Analyze(_)) {
        return Ok(plan);
    }
    let mut known: Vec<(Subquery, ScalarValue)> = Vec::new();
    for query in constants(&plan)? {
        if !known.iter().any(|(before, _)| *before == query) {
            let value = value(context, &query).await?;
            known.push((query, value));
        }
    }
    if known.is_empty() { Ok(plan) } else { replaced(plan, &known) }
}

/// The outermost queries that do not depend on a row.
fn constants(plan: &LogicalPlan) -> Result<Vec<Subquery>> {
    let mut found = Vec::new();
    plan.apply(|node| {
        node.apply_expressions(|expression| {
            expression.apply(|part| {
                if let Some(query) = constant(part) {
                    found.push(query.clone());
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
    })?;
    Ok(found)
}

fn constant(expression: &Expr) -> Option<&Subquery> {
    match expression {
        Expr::ScalarSubquery(query) if query.outer_ref_columns.is_empty() => Some(query),
        _ => None,
    }
}

/// The result of a query with at most one row.
async fn value(context: &SessionContext, query: &Subquery) -> Result<ScalarValue> {
    let plan = Box::pin(computed(context, query.subquery.as_ref().clone())).await?;
    let frame = context.execute_logical_plan(plan).await?;
    let kind = frame.schema().field(0).data_type().clone();
    let batches = frame.collect().await?;
    let rows: usize = batches.iter().map(|batch| batch.num_rows()).sum();
    match (rows, batches.iter().find(|batch| batch.num_rows() > 0)) {
        (0, _) | (_, None) => ScalarValue::try_from(&kind),
        (1, Some(batch)) => ScalarValue::try_from_array(batch.column(0), 0),
        _ => Err(Error::new(format!("a query in parentheses returned {rows} rows, expected at most one")).into()),
    }
}

/// The plan with values in place of queries. Columns keep their names.
fn replaced(plan: LogicalPlan, known: &[(Subquery, ScalarValue)]) -> Result<LogicalPlan> {
    let literal = |part: Expr| {
        let value = constant(&part).and_then(|query| known.iter().find(|(before, _)| before == query));
        Ok(match value {
            Some((_, value)) => Transformed::yes(Expr::Literal(value.clone(), None)),
            None => Transformed::no(part),
        })
    };
    let plan = plan.transform_up(|node| {
        let names = NamePreserver::new(&node);
        let node = node.map_expressions(|expression| {
            let name = names.save(&expression);
            Ok(expression.transform_up(literal)?.update_data(|expression| name.restore(expression)))
        })?;
        node.map_data(|node| node.recompute_schema())
    })?;
    Ok(plan.data)
}

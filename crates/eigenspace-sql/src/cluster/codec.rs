//! How NPY files travel in plans: a table as its path and number of partitions, a scan as its
//! columns. The rest is left to Ballista.

use std::sync::Arc;

use ballista_core::serde::{BallistaLogicalExtensionCodec, BallistaPhysicalExtensionCodec};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::TableProvider;
use datafusion::common::TableReference;
use datafusion::datasource::file_format::FileFormatFactory;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{Extension, LogicalPlan};
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::logical_plan::LogicalExtensionCodec;
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};

use crate::error::Error;
use crate::npy::{NpyScan, NpyTable};

/// The first bytes of a table. No message of Ballista starts with a zero.
const TABLE: &[u8] = b"\0eigenspace NPY table 1\0";

/// The first bytes of a scan.
const SCAN: &[u8] = b"\0eigenspace NPY scan 1\0";

/// All columns.
const ALL: u64 = u64::MAX;

/// Numbers of eight bytes.
struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    fn next(&mut self) -> Result<u64> {
        let damaged = || DataFusionError::Internal("a plan with NPY files is damaged".into());
        let (first, rest) = self.0.split_first_chunk().ok_or_else(damaged)?;
        self.0 = rest;
        Ok(u64::from_le_bytes(*first))
    }
}

/// Tables in the plans of the client.
#[derive(Debug, Default)]
pub(super) struct Logical(BallistaLogicalExtensionCodec);

impl LogicalExtensionCodec for Logical {
    fn try_decode(&self, bytes: &[u8], inputs: &[LogicalPlan], context: &TaskContext) -> Result<Extension> {
        self.0.try_decode(bytes, inputs, context)
    }

    fn try_encode(&self, node: &Extension, bytes: &mut Vec<u8>) -> Result<()> {
        self.0.try_encode(node, bytes)
    }

    fn try_decode_table_provider(
        &self,
        bytes: &[u8],
        name: &TableReference,
        schema: SchemaRef,
        context: &TaskContext,
    ) -> Result<Arc<dyn TableProvider>> {
        let Some(bytes) = bytes.strip_prefix(TABLE) else {
            return self.0.try_decode_table_provider(bytes, name, schema, context);
        };
        let mut numbers = Numbers(bytes);
        let partitions = numbers.next()? as usize;
        Ok(Arc::new(NpyTable::new(&String::from_utf8_lossy(numbers.0), partitions)?))
    }

    fn try_encode_table_provider(
        &self,
        name: &TableReference,
        table: Arc<dyn TableProvider>,
        bytes: &mut Vec<u8>,
    ) -> Result<()> {
        if let Some(table) = table.downcast_ref::<NpyTable>() {
            // The client and the executors have different current directories.
            let path = std::path::absolute(table.name())?;
            let path = path.to_str().ok_or_else(|| Error::new(format!("the path of `{name}` is not UTF-8")))?;
            bytes.extend(TABLE);
            bytes.extend((table.partitions() as u64).to_le_bytes());
            bytes.extend(path.as_bytes());
            return Ok(());
        }
        self.0.try_encode_table_provider(name, table, bytes).map_err(|_| {
            let message = format!("the table `{name}` cannot be sent to a cluster");
            Error::new(message).hint("use files that all machines can read").into()
        })
    }

    fn try_decode_file_format(&self, bytes: &[u8], context: &TaskContext) -> Result<Arc<dyn FileFormatFactory>> {
        self.0.try_decode_file_format(bytes, context)
    }

    fn try_encode_file_format(&self, bytes: &mut Vec<u8>, format: Arc<dyn FileFormatFactory>) -> Result<()> {
        self.0.try_encode_file_format(bytes, format)
    }
}

/// Scans in the tasks of the executors.
#[derive(Debug, Default)]
pub(super) struct Physical(BallistaPhysicalExtensionCodec);

impl PhysicalExtensionCodec for Physical {
    fn try_decode(
        &self,
        bytes: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        context: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let Some(bytes) = bytes.strip_prefix(SCAN) else {
            return self.0.try_decode(bytes, inputs, context, converter);
        };
        let mut numbers = Numbers(bytes);
        let (width, columns) = (numbers.next()? as i32, numbers.next()?);
        let projection = match columns {
            ALL => None,
            count => Some((0..count).map(|_| Ok(numbers.next()? as usize)).collect::<Result<_>>()?),
        };
        let [parts] = inputs else {
            return Err(DataFusionError::Internal("a scan of NPY files has one input".into()));
        };
        Ok(Arc::new(NpyScan::new(Arc::clone(parts), width, projection)?))
    }

    fn try_encode(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        bytes: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        let Some(scan) = plan.downcast_ref::<NpyScan>() else {
            return self.0.try_encode(plan, bytes, converter);
        };
        let columns = scan.projection();
        let count = columns.map_or(ALL, |columns| columns.len() as u64);
        let columns = columns.into_iter().flatten().map(|&column| column as u64);
        bytes.extend(SCAN);
        [scan.width() as u64, count].into_iter().chain(columns).for_each(|number| bytes.extend(number.to_le_bytes()));
        Ok(())
    }
}

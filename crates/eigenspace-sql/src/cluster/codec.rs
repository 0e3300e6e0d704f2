//! How tables of NPY files travel in plans: path, number of partitions, columns and limit. Everything else is left to
//! Ballista.

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
const MARK: &[u8] = b"\0eigenspace npy 1\0";

/// What stands for `None`.
const NONE: u64 = u64::MAX;

/// A table of NPY files, and what is read of it.
struct Sent {
    name: String,
    partitions: usize,
    projection: Option<Vec<usize>>,
    limit: Option<usize>,
}

impl Sent {
    fn write(&self, bytes: &mut Vec<u8>) -> Result<()> {
        // The client and the executors have different current directories.
        let path = std::path::absolute(&self.name)?;
        let path = path.to_str().ok_or_else(|| Error::new(format!("the path of `{}` is not UTF-8", self.name)))?;
        let columns = self.projection.as_ref();
        bytes.extend(MARK);
        let mut push = |number: Option<usize>| bytes.extend(number.map_or(NONE, |number| number as u64).to_le_bytes());
        push(Some(self.partitions));
        push(self.limit);
        push(columns.map(Vec::len));
        columns.into_iter().flatten().for_each(|&column| push(Some(column)));
        bytes.extend(path.as_bytes());
        Ok(())
    }

    /// `None` if the bytes are something else.
    fn read(bytes: &[u8]) -> Option<Result<Self>> {
        let bytes = bytes.strip_prefix(MARK)?;
        Some(Self::parsed(bytes).ok_or_else(|| DataFusionError::Internal("a table of NPY files is damaged".into())))
    }

    fn parsed(mut bytes: &[u8]) -> Option<Self> {
        let mut number = || -> Option<Option<usize>> {
            let (first, rest) = bytes.split_first_chunk()?;
            bytes = rest;
            match u64::from_le_bytes(*first) {
                NONE => Some(None),
                number => usize::try_from(number).ok().map(Some),
            }
        };
        let (partitions, limit, columns) = (number()??, number()?, number()?);
        let projection = match columns {
            Some(columns) => Some((0..columns).map(|_| number()?).collect::<Option<_>>()?),
            None => None,
        };
        Some(Self { name: String::from_utf8(bytes.to_vec()).ok()?, partitions, projection, limit })
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
        match Sent::read(bytes) {
            Some(sent) => sent.and_then(|sent| Ok(Arc::new(NpyTable::new(&sent.name, sent.partitions)?) as _)),
            None => self.0.try_decode_table_provider(bytes, name, schema, context),
        }
    }

    fn try_encode_table_provider(
        &self,
        name: &TableReference,
        table: Arc<dyn TableProvider>,
        bytes: &mut Vec<u8>,
    ) -> Result<()> {
        if let Some(table) = table.downcast_ref::<NpyTable>() {
            let (name, partitions) = (table.name.clone(), table.partitions);
            return Sent { name, partitions, projection: None, limit: None }.write(bytes);
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
        match Sent::read(bytes) {
            Some(sent) => sent.and_then(|sent| {
                let table = NpyTable::new(&sent.name, sent.partitions)?;
                Ok(Arc::new(table.read(sent.projection.as_ref(), sent.limit)?) as _)
            }),
            None => self.0.try_decode(bytes, inputs, context, converter),
        }
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
        let (name, partitions) = (scan.name.clone(), scan.partitions);
        Sent { name, partitions, projection: scan.projection.clone(), limit: scan.limit }.write(bytes)
    }
}

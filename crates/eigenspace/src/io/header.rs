//! The header of a model file: a JSON object with the version, the settings, the metadata and the
//! checksum.
//!
//! ```text
//! {"centered": …, "components": …, "faces": …, "metadata": …, "sha256": …, "version": 4, "weight_kind": …}
//! ```
//!
//! `docs/FORMAT.md` has the table of its keys. The checksum is the SHA-256 of this text, in which
//! the digits of the checksum itself are zeros, and of every tensor. So a reader needs no rule for
//! how JSON is spelled.

use std::str::FromStr;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::io::error::FormatError;
use crate::model::metadata::Metadata;
use crate::model::truncation::Components;
use crate::model::weight::WeightKind;

/// The version that is written, and the only one that is read.
const VERSION: u64 = 4;
/// The key in the metadata of the safetensors file.
pub(crate) const KEY: &str = "eigenspace";
/// The placeholder for the checksum while it is computed.
const NO_SUM: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Everything in a model file that is not a tensor.
pub(crate) struct Header {
    pub(crate) centered: bool,
    pub(crate) components: Components,
    pub(crate) weight_kind: WeightKind,
    pub(crate) metadata: Metadata,
    /// What a recognizer stores in addition to its tensors, as JSON, because only `faces/file.rs`
    /// knows its type.
    pub(crate) faces: Option<Value>,
}

/// A tensor as the checksum sees it: name, shape and bytes.
pub(crate) type Summed<'a> = (&'a str, &'a [usize], &'a [u8]);

impl Header {
    /// The text of the header of a file with these tensors, which are sorted by name.
    pub(crate) fn write<'a>(&self, tensors: impl Iterator<Item = Summed<'a>>) -> String {
        let mut header = serde_json::json!({
            "centered": self.centered,
            "components": self.components.to_string(),
            "metadata": self.metadata,
            "weight_kind": self.weight_kind.to_string(),
        });
        if let Some(faces) = &self.faces {
            header["faces"] = faces.clone();
        }
        sealed(header, VERSION, tensors)
    }

    /// Reads the text of a header, and compares its checksum with these tensors, which are sorted
    /// by name.
    pub(crate) fn read<'a>(text: &str, tensors: impl Iterator<Item = Summed<'a>>) -> Result<Self, FormatError> {
        let json = unsealed(text, VERSION, tensors)?;
        let metadata = json.get("metadata").cloned().unwrap_or_default();
        Ok(Self {
            centered: flag_of(&json, "centered")?,
            components: components_of(&json)?,
            weight_kind: setting_of(&json, "weight_kind")?,
            metadata: serde_json::from_value(metadata).map_err(|_| FormatError::Metadata { key: "metadata" })?,
            faces: json.get("faces").cloned(),
        })
    }
}

/// The text of a header of this version with the checksum of itself and of these tensors, which are
/// sorted by name.
pub(crate) fn sealed<'a>(mut header: Value, version: u64, tensors: impl Iterator<Item = Summed<'a>>) -> String {
    (header["sha256"], header["version"]) = (NO_SUM.into(), version.into());
    header["sha256"] = checksum(&header.to_string(), tensors).into();
    header.to_string()
}

/// The header in this text, after its version and its checksum were compared.
pub(crate) fn unsealed<'a>(
    text: &str,
    version: u64,
    tensors: impl Iterator<Item = Summed<'a>>,
) -> Result<Value, FormatError> {
    let json: Value = serde_json::from_str(text).map_err(|_| FormatError::Metadata { key: KEY })?;
    let found = json.get("version").and_then(Value::as_u64).ok_or(FormatError::Metadata { key: "version" })?;
    if found != version {
        return Err(FormatError::Version { found, supported: version });
    }
    let sum = json.get("sha256").and_then(Value::as_str).ok_or(FormatError::Metadata { key: "sha256" })?;
    let spelled = sum.len() == NO_SUM.len() && text.contains(sum);
    if !cfg!(fuzzing) && (!spelled || checksum(&text.replace(sum, NO_SUM), tensors) != sum) {
        return Err(FormatError::Checksum);
    }
    Ok(json)
}

fn checksum<'a>(text: &str, tensors: impl Iterator<Item = Summed<'a>>) -> String {
    let mut hash = Sha256::new();
    hash.update(text);
    for (name, shape, data) in tensors {
        hash.update(format!("\n{name} {shape:?}\n"));
        hash.update(data);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A setting in a header, which is true or false.
pub(crate) fn flag_of(header: &Value, key: &'static str) -> Result<bool, FormatError> {
    header[key].as_bool().ok_or(FormatError::Metadata { key })
}

/// A setting in a header, as the text that the command accepts for it.
pub(crate) fn setting_of<T: FromStr>(header: &Value, key: &'static str) -> Result<T, FormatError> {
    header[key].as_str().and_then(|text| text.parse().ok()).ok_or(FormatError::Metadata { key })
}

/// The number of components to report.
pub(crate) fn components_of(header: &Value) -> Result<Components, FormatError> {
    let key = "components";
    setting_of::<Components>(header, key)?.check().map_err(|_| FormatError::Metadata { key })
}

//! The header of a model file: a JSON object with the version, the settings, the metadata and the
//! checksum.
//!
//! ```text
//! {"center": …, "components": …, "faces": …, "metadata": …, "sha256": …, "version": 3, "weights": …}
//! ```
//!
//! `docs/FORMAT.md` has the table of its keys. The checksum is the SHA-256 of this text, in which
//! the digits of the checksum itself are zeros, and of every tensor. So a reader needs no rule for
//! how JSON is spelled.

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::io::error::FormatError;
use crate::model::metadata::Metadata;
use crate::model::truncation::Components;
use crate::model::weight::WeightKind;

/// The version that is written, and the only one that is read.
const VERSION: u64 = 3;
/// The key in the metadata of the safetensors file.
pub(crate) const KEY: &str = "eigenspace";
/// The placeholder for the checksum while it is computed.
const NO_SUM: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Everything in a model file that is not a tensor.
pub(crate) struct Header {
    pub(crate) about_origin: bool,
    pub(crate) components: Components,
    pub(crate) weights: WeightKind,
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
            "center": write_center(self.about_origin),
            "components": write_components(self.components),
            "metadata": self.metadata,
            "weights": self.weights.name(),
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
        let word = |key: &'static str| json.get(key).and_then(Value::as_str).ok_or(FormatError::Metadata { key });
        let about_origin = read_center(word("center")?)?;
        let metadata = json.get("metadata").cloned().unwrap_or_default();
        Ok(Self {
            about_origin,
            components: read_components(word("components")?)?,
            weights: word("weights")?.parse().map_err(|_| FormatError::Metadata { key: "weights" })?,
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

pub(crate) fn write_center(about_origin: bool) -> &'static str {
    if about_origin { "origin" } else { "mean" }
}

pub(crate) fn read_center(text: &str) -> Result<bool, FormatError> {
    match text {
        "mean" => Ok(false),
        "origin" => Ok(true),
        _ => Err(FormatError::Metadata { key: "center" }),
    }
}

pub(crate) fn write_components(components: Components) -> String {
    match components {
        Components::All => "all".into(),
        Components::Number(number) => format!("number {number}"),
        Components::Share(share) => format!("share {share:?}"),
    }
}

pub(crate) fn read_components(text: &str) -> Result<Components, FormatError> {
    let components = match text.split_once(' ') {
        None if text == "all" => Some(Components::All),
        Some(("number", number)) => number.parse().ok().map(Components::Number),
        Some(("share", share)) => share.parse().ok().map(Components::Share),
        _ => None,
    };
    components.and_then(|components| components.check().ok()).ok_or(FormatError::Metadata { key: "components" })
}

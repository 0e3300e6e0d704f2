//! Metadata that a model file stores with the model: how its rows were read, and whether it is reported standardized.

use eigenspace::faces::Pixels;
use eigenspace::io::source::{Columns, Picture};
use serde_json::{Value, json};

/// Stored in the file as JSON, covered by the file's checksum.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Note {
    /// Whether to report the model standardized. The model itself is always raw.
    pub(crate) standardize: bool,
    /// Names of the columns.
    pub(crate) names: Option<Vec<String>>,
    /// The size of the image that a row holds.
    pub(crate) picture: Option<Picture>,
    /// Whether the file is a face recognizer. Models derived from it are not.
    pub(crate) faces: bool,
    /// How that recognizer transforms the pixels of each image first.
    pub(crate) pixels: Pixels,
}

impl Note {
    pub(crate) fn of(columns: &Columns, standardize: bool) -> Self {
        Self { standardize, names: columns.names.clone(), picture: columns.picture, ..Self::default() }
    }

    pub(crate) fn to_text(&self) -> String {
        if (Self { faces: false, pixels: Pixels::Raw, ..self.clone() }) == Self::default() {
            return String::new();
        }
        let picture = self
            .picture
            .map(|p| json!({ "width": p.width, "height": p.height, "channels": p.channels, "bits": p.bits }));
        json!({ "standardize": self.standardize, "columns": self.names, "picture": picture }).to_string()
    }

    /// Parses a note. An unknown or malformed note is ignored.
    pub(crate) fn from_text(text: &str, features: usize) -> Self {
        let json: Value = serde_json::from_str(text).unwrap_or_default();
        let names = json["columns"]
            .as_array()
            .map(|names| names.iter().map(|name| name.as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>());
        let size = |key: &str| json["picture"][key].as_u64().and_then(|size| usize::try_from(size).ok());
        let bits = size("bits").and_then(|bits| u8::try_from(bits).ok());
        let picture = match (size("width"), size("height"), size("channels")) {
            (Some(width), Some(height), Some(channels)) => Some(Picture { width, height, channels, bits }),
            _ => None,
        };
        let cells = |p: &Picture| p.width.checked_mul(p.height).and_then(|cells| cells.checked_mul(p.channels));
        Self {
            standardize: json["standardize"].as_bool().unwrap_or(false),
            names: names.filter(|names| names.len() == features),
            picture: picture.filter(|picture| cells(picture) == Some(features)),
            faces: json["faces"].is_object(),
            pixels: json["faces"]["pixels"].as_str().and_then(|text| text.parse().ok()).unwrap_or_default(),
        }
    }

    /// The metadata that two models share.
    pub(crate) fn shared(&self, other: &Self) -> Self {
        Self {
            standardize: self.standardize && other.standardize,
            names: self.names.clone().filter(|_| self.names == other.names),
            picture: self.picture.filter(|_| self.picture == other.picture),
            ..Self::default()
        }
    }

    /// The names of the columns, or c0, c1, …
    pub(crate) fn column_names(&self, features: usize) -> Vec<String> {
        self.names.clone().unwrap_or_else(|| (0..features).map(|j| format!("c{j}")).collect())
    }
}

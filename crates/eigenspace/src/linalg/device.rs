//! The choice between the CPU and a graphics card.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::card::Card;
use crate::device_error::DeviceError;
use crate::error::Error;

/// Where a fit computes.
///
/// ```
/// use eigenspace::Device;
///
/// assert_eq!("cuda:1".parse::<Device>()?, Device::Cuda(1));
/// assert_eq!(Device::Cuda(0).to_string(), "cuda:0");
/// # Ok::<(), eigenspace::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Device {
    /// All cores of the CPU.
    #[default]
    Cpu,
    /// The CUDA device with this number, from 0. An error if it cannot be used.
    Cuda(usize),
    /// The first CUDA device if there is one and the rows are wide enough for it, otherwise the
    /// CPU.
    Auto,
}

/// `cpu`, `cuda:0` or `auto`.
impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            Self::Cuda(number) => write!(f, "cuda:{number}"),
            Self::Auto => f.write_str("auto"),
        }
    }
}

impl FromStr for Device {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let number = |text: &str| text.strip_prefix("cuda:").and_then(|number| number.parse().ok());
        match text {
            "cpu" => Ok(Self::Cpu),
            "cuda" => Ok(Self::Cuda(0)),
            "auto" => Ok(Self::Auto),
            _ => match number(text) {
                Some(number) => Ok(Self::Cuda(number)),
                None => Err(Error::unknown_word("device", text, "`cpu`, `cuda`, `cuda:N` or `auto`")),
            },
        }
    }
}

/// With fewer features, [`Device::Auto`] is the CPU: copying the rows would take as long as
/// computing with them.
const AUTO_FEATURES: usize = 1024;

impl Device {
    /// The card for rows with this number of features; `None` for the CPU.
    pub(crate) fn open(self, features: usize) -> Result<Option<Arc<dyn Card>>, Error> {
        match self {
            Self::Cpu => Ok(None),
            Self::Cuda(number) => cuda(number).map(Some).map_err(Error::from),
            Self::Auto if features < AUTO_FEATURES => Ok(None),
            Self::Auto => Ok(cuda(0).ok()),
        }
    }
}

#[cfg(feature = "cuda")]
fn cuda(number: usize) -> Result<Arc<dyn Card>, DeviceError> {
    let card: Arc<dyn Card> = super::cuda::Cuda::open(number)?;
    Ok(card)
}

#[cfg(not(feature = "cuda"))]
fn cuda(_: usize) -> Result<Arc<dyn Card>, DeviceError> {
    Err(DeviceError::NotBuilt)
}

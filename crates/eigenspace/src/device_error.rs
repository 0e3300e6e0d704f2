//! Why a computation on a GPU is impossible.

use crate::printable::grouped;

/// Why a GPU cannot be used, or why it failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// The library or command was built without the feature `cuda`.
    #[error("cannot use CUDA: this build does not support it")]
    NotBuilt,
    /// The machine has no such GPU, or the driver cannot use it.
    #[error("no CUDA device: {reason}")]
    NoDevice {
        /// What the driver says.
        reason: String,
    },
    /// A library of CUDA is not installed.
    #[error("cannot load {library}: it is not installed, or not where the system looks for libraries")]
    MissingLibrary {
        /// Its name.
        library: &'static str,
    },
    /// The driver is older than the code for the GPU.
    #[error("the NVIDIA driver is too old: it supports CUDA {found}, and CUDA {needed} is needed")]
    OldDriver {
        /// The version of CUDA that the driver supports.
        found: String,
        /// The oldest version of CUDA that is sufficient.
        needed: String,
    },
    /// The GPU has too little free memory.
    #[error("cannot reserve {} bytes on the CUDA device: {} bytes are free", grouped(needed), grouped(free))]
    OutOfMemory {
        /// Bytes that were to be reserved.
        needed: u64,
        /// Bytes that are free.
        free: u64,
    },
    /// The GPU reported an error, or is no longer there.
    #[error("the CUDA device failed: {reason}")]
    Failed {
        /// What the driver says.
        reason: String,
    },
    /// An address that is not in the memory of the GPU.
    #[error(
        "cannot read {} bytes from the CUDA device at address {address:#x}: they are not in its memory",
        grouped(bytes)
    )]
    NotOnDevice {
        /// The address.
        address: u64,
        /// Bytes that were to be read.
        bytes: u64,
    },
}

impl DeviceError {
    /// What the user can do to compute on the device; `None` if nothing would help.
    pub fn remedy(&self) -> Option<&'static str> {
        Some(match self {
            Self::NotBuilt => "build with the feature `cuda`",
            Self::NoDevice { .. } => "check the output of nvidia-smi",
            Self::MissingLibrary { library: "libcuda" } => "install the NVIDIA driver",
            Self::MissingLibrary { .. } => "install the CUDA toolkit and add its libraries to LD_LIBRARY_PATH",
            Self::OldDriver { .. } => "update the NVIDIA driver",
            Self::OutOfMemory { .. } => {
                "use fewer rows per block or a smaller rank, close other programs that use the GPU"
            }
            Self::Failed { .. } | Self::NotOnDevice { .. } => return None,
        })
    }

    /// What the user can do about it.
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::Failed { .. } => {
                "the rows so far are still in the stream, which can be saved and read; start the program again to use the \
                 GPU again"
                    .into()
            }
            Self::NotOnDevice { .. } => "pass an array that is on the CUDA device of the fit".into(),
            other => {
                let remedy = other.remedy().unwrap_or_default();
                let packages = match other {
                    Self::MissingLibrary { library } if *library != "libcuda" => {
                        "; in Python, `import torch` or the packages nvidia-cublas and nvidia-cusolver provide them"
                    }
                    _ => "",
                };
                format!("{remedy}, or compute on the CPU{packages}")
            }
        }
    }
}

//! The answer of a command, from which the exit code follows.

/// The answer of a command that compares; all other commands answer yes when they succeed.
pub(crate) enum Answer {
    Yes,
    No,
    /// An error that was already printed.
    #[cfg(feature = "explore")]
    Failed,
}

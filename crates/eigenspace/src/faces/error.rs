//! What a recognizer refuses.

use crate::printable::{first_names, printable};

/// Why faces cannot be trained on, enrolled, forgotten or evaluated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The model refuses the pictures.
    #[error(transparent)]
    Model(#[from] crate::Error),
    /// A recognizer cannot be read or written.
    #[error(transparent)]
    File(#[from] crate::io::Error),
    /// No pictures at all.
    #[error("no images were given")]
    NoPictures,
    /// Another number of names than of pictures.
    #[error("there are {names} names of {what} for {pictures} pictures")]
    NameCount {
        /// Pictures given.
        pictures: usize,
        /// Names given.
        names: usize,
        /// Whose names: `people` or `pictures`.
        what: &'static str,
    },
    /// A person or a picture without a name.
    #[error("picture {picture} has an empty name, or that of nobody")]
    NoName {
        /// Picture, from 0.
        picture: usize,
    },
    /// The same pixels a second time.
    #[error(
        "the picture `{picture}` of `{person}` is enrolled already, as `{as_picture}` of `{as_person}`",
        person = printable(person), picture = printable(picture), as_person = printable(as_person), as_picture = printable(as_picture)
    )]
    AlreadyEnrolled {
        /// Whose it is said to be.
        person: String,
        /// The picture that was given.
        picture: String,
        /// Who has it.
        as_person: String,
        /// Under this name.
        as_picture: String,
    },
    /// Another picture under a name that is taken.
    #[error("`{person}` has another picture `{picture}` already", person = printable(person), picture = printable(picture))]
    NameTaken {
        /// The person.
        person: String,
        /// The name.
        picture: String,
    },
    /// Nobody of that name.
    #[error("unknown person `{person}`", person = printable(person))]
    UnknownPerson {
        /// Who was asked for.
        person: String,
        /// Who is there.
        people: Vec<String>,
    },
    /// No picture of that name.
    #[error("`{person}` has no picture `{picture}`", person = printable(person), picture = printable(picture))]
    UnknownPicture {
        /// The person.
        person: String,
        /// What was asked for.
        picture: String,
        /// What is there.
        pictures: Vec<String>,
    },
    /// Nobody would be left.
    #[error("cannot forget the last person")]
    NobodyLeft,
    /// A picture with a part that nobody knows any more.
    #[error("cannot forget the picture `{picture}` of `{person}`: directions that it contributed to were dropped", person = printable(person), picture = printable(picture))]
    Dropped {
        /// The person.
        person: String,
        /// The first such picture.
        picture: String,
    },
    /// A name that would not be one line of text.
    #[error("the name {name:?} has control characters in it")]
    ControlName {
        /// The name.
        name: String,
    },
    /// A person called as pictures of nobody are.
    #[error("invalid name of a person `{person}`: pictures of strangers are reported under it", person = printable(person))]
    ReservedName {
        /// The name.
        person: String,
    },
    /// A width and height that do not make the pixels.
    #[error("pictures of {}x{} do not have {features} pixels", size.0, size.1)]
    PictureSize {
        /// Width and height.
        size: (usize, usize),
        /// Columns of the rows.
        features: usize,
    },
    /// A setting whose text says nothing.
    #[error("invalid {what} `{text}`", text = printable(text))]
    Setting {
        /// What it should have been.
        what: &'static str,
        /// What it is.
        text: String,
    },
    /// A protocol that needs more pictures of somebody.
    #[error("`{person}` has {}, and the protocol {protocol} needs {needed}", pictures(*found), person = printable(person))]
    TooFewPictures {
        /// The protocol.
        protocol: String,
        /// The first person with too few.
        person: String,
        /// Pictures there.
        found: usize,
        /// Pictures needed.
        needed: usize,
    },
    /// A protocol that needs somebody to take a person for.
    #[error("cannot evaluate with images of only one person")]
    OnePerson,
}

impl Error {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        let text = match self {
            Self::Model(error) => return error.hint(),
            Self::File(error) => return error.hint(),
            Self::NoPictures => "pass at least one picture of one person".into(),
            Self::NameCount { .. } | Self::NoName { .. } => "name the person and the picture of every row".into(),
            Self::AlreadyEnrolled { .. } => "every picture counts once: leave it out, or forget the other first".into(),
            Self::NameTaken { .. } => "give it another name, or forget the other first".into(),
            Self::UnknownPerson { people: names, .. } | Self::UnknownPicture { pictures: names, .. } => {
                format!("there are: {}", first_names(names))
            }
            Self::NobodyLeft => "a recognizer knows at least one person; remove its file instead".into(),
            Self::Dropped { .. } => {
                "train again on the pictures that stay; without max_rank nothing is dropped, and everybody can be forgotten".into()
            }
            Self::ControlName { .. } => "names of people and pictures are one line of text; rename the folder or the file".into(),
            Self::ReservedName { .. } => "choose another name for the person: rename the folder".into(),
            Self::PictureSize { .. } => "width times height, times 3 for colors, must be the number of pixels".into(),
            Self::Setting { what, .. } => return known(what).map(str::to_owned),
            Self::TooFewPictures { .. } => "add pictures of them, leave them out, or train on fewer".into(),
            Self::OnePerson => "evaluate with pictures of two people or more".into(),
        };
        Some(text)
    }
}

/// The texts that a setting may have.
fn known(what: &str) -> Option<&'static str> {
    Some(match what {
        "classifier" => {
            "one of knn, knn:3, centroid, svm, svm:10 (C), svm-rbf, svm-rbf:10,0.5 (C, γ), perceptron, perceptron:50 (epochs), subspace; at most 1000 neighbors and 10000 epochs"
        }
        "metric" => "one of euclidean, cosine, mahalanobis, mahalanobis-cosine",
        "way to take pixels" => "one of raw, standardized",
        "threshold" => "a positive number, `learned`, or `none`",
        "share of faces to accept" => "above 0 and at most 1, for example 0.95",
        "protocol" => {
            "one of first-5, random-5, random-9, leave-one-out, incremental; the number is that of training pictures"
        }
        _ => return None,
    })
}

/// So many pictures.
fn pictures(count: usize) -> String {
    if count == 1 { "1 picture".into() } else { format!("{count} pictures") }
}

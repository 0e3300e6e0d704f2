//! Errors of recognizers.

use std::path::PathBuf;

use crate::error::counted;
use crate::printable::{first_names, printable};

/// Why a recognizer cannot be trained, changed, evaluated, read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The model cannot be computed from the images.
    #[error(transparent)]
    Model(#[from] crate::Error),
    /// The file cannot be read or written.
    #[error(transparent)]
    File(#[from] crate::io::Error),
    /// No images were given.
    #[error("no images were given")]
    NoImages,
    /// The number of names is not the number of images.
    #[error(
        "found {} of {} for {}, expected one for each image",
        counted(*names, "name"), if *names == 1 { one_of(what) } else { what }, counted(*images, "image")
    )]
    NameCount {
        /// Number of images.
        images: usize,
        /// Number of names.
        names: usize,
        /// Which names: `people` or `images`.
        what: &'static str,
    },
    /// The name of a person or of an image is empty.
    #[error("image {image}: the name of the person or of the image is empty")]
    NoName {
        /// Index of the image, from 0.
        image: usize,
    },
    /// An image with the same pixels is already enrolled.
    #[error(
        "the image `{image}` of `{person}` is already enrolled{}",
        other_name((image, person), (as_image, as_person)), person = printable(person), image = printable(image)
    )]
    AlreadyEnrolled {
        /// The given person.
        person: String,
        /// The given image.
        image: String,
        /// The person it is enrolled for.
        as_person: String,
        /// The name it is enrolled under.
        as_image: String,
    },
    /// The person already has another image with this name.
    #[error("`{person}` already has another image named `{image}`", person = printable(person), image = printable(image))]
    NameTaken {
        /// The person.
        person: String,
        /// The name.
        image: String,
    },
    /// Nobody with this name is enrolled.
    #[error("unknown person `{person}`", person = printable(person))]
    UnknownPerson {
        /// The given name.
        person: String,
        /// The people who are enrolled.
        people: Vec<String>,
    },
    /// The person has no image with this name.
    #[error("`{person}` has no image named `{image}`", person = printable(person), image = printable(image))]
    UnknownImage {
        /// The person.
        person: String,
        /// The given name.
        image: String,
        /// The person's images.
        images: Vec<String>,
    },
    /// The last person cannot be forgotten.
    #[error("cannot forget the last person")]
    NobodyLeft,
    /// The image contributed to directions that were dropped.
    #[error("cannot forget the image `{image}` of `{person}`: directions that it contributed to were dropped", person = printable(person), image = printable(image))]
    Dropped {
        /// The person.
        person: String,
        /// The first such image.
        image: String,
    },
    /// A name with control characters.
    #[error("invalid name {name:?}: it contains control characters")]
    ControlName {
        /// The name.
        name: String,
    },
    /// A name that is reserved for strangers and for images that are not faces.
    #[error("invalid person name `{person}`: it is reserved for images that are not recognized", person = printable(person))]
    ReservedName {
        /// The name.
        person: String,
    },
    /// A width and height that do not match the number of pixels.
    #[error("invalid image size {}x{}: each image has {}", size.0, size.1, counted(*features, "value"))]
    ImageSize {
        /// Width and height.
        size: (usize, usize),
        /// Columns of the rows.
        features: usize,
    },
    /// A setting that cannot be parsed.
    #[error("invalid {what} `{text}`{}", expected(what), text = printable(text))]
    Setting {
        /// The name of the setting.
        what: &'static str,
        /// The given text.
        text: String,
    },
    /// A person has too few images for a protocol.
    #[error("the protocol {protocol} needs {} of each person, and `{person}` has {found}", counted(*needed, "image"), person = printable(person))]
    TooFewImages {
        /// The protocol.
        protocol: String,
        /// The first person with too few images.
        person: String,
        /// Number of images.
        found: usize,
        /// Number of images needed.
        needed: usize,
        /// The protocol of the same kind for which there are enough images, if there is one.
        smaller: Option<String>,
    },
    /// A directory without a directory of images for each person.
    #[error("cannot find people in `{}`: expected a subdirectory of images for each person", directory.display())]
    NoPeople {
        /// The directory.
        directory: PathBuf,
    },
    /// An image that is not in the directory of a person.
    #[error("cannot tell whose image `{}` is: {}", path.display(), if *enrolling { "it was passed as a single file" } else { "it is not in a person's directory" })]
    NoPerson {
        /// The image.
        path: PathBuf,
        /// Whether the image is enrolled, so that the caller can name the person.
        enrolling: bool,
    },
    /// A single image, named together with directories of people.
    #[error("cannot tell whose image `{}` is: it was passed as a single file, together with directories", path.display())]
    SingleFile {
        /// The image.
        path: PathBuf,
    },
    /// An image that is too deep below the named directory.
    #[error("cannot tell whose image `{}` is: it is two or more directories below `{}`", path.display(), directory.display())]
    Nested {
        /// The image.
        path: PathBuf,
        /// The named directory.
        directory: PathBuf,
    },
    /// The name of a file or a directory that is not text.
    #[error("cannot use the name of `{}`: it is not UTF-8", path.display())]
    NotText {
        /// The file or the directory.
        path: PathBuf,
    },
    /// A protocol needs at least two people.
    #[error("cannot evaluate with images of only one person")]
    OnePerson,
}

impl Error {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        let text = match self {
            Self::Model(error) => return error.hint(),
            Self::File(error) => return error.hint(),
            Self::NoImages => "pass at least one image".into(),
            Self::NameCount { .. } | Self::NoName { .. } => {
                "pass the name of the person and the name of the image for every row".into()
            }
            Self::AlreadyEnrolled { .. } => {
                "leave it out, or forget the enrolled one first: every image can be enrolled only once".into()
            }
            Self::NameTaken { .. } => "give the new image another name, or forget the enrolled one first".into(),
            Self::UnknownPerson { people: names, .. } | Self::UnknownImage { images: names, .. } => {
                format!("choose one of: {}", first_names(names))
            }
            Self::NobodyLeft => "delete the recognizer file instead: a recognizer has at least one person".into(),
            Self::Dropped { .. } => {
                "train again on the remaining images; without max_rank nothing is dropped, and any person can be forgotten"
                    .into()
            }
            Self::ControlName { .. } => "rename the directory or the file: a name must be one line of text".into(),
            Self::ReservedName { .. } => {
                "choose another name for the person, for example by renaming the directory".into()
            }
            Self::ImageSize { .. } => {
                "choose a width and height whose product (times 3 for color) is the number of values".into()
            }
            Self::Setting { what, .. } => return known(what).map(str::to_owned),
            Self::TooFewImages { smaller: Some(smaller), .. } => {
                format!("add images of this person, leave the person out, or try the protocol {smaller}")
            }
            Self::TooFewImages { .. } => "add images of this person, or leave the person out".into(),
            Self::NoPeople { .. } => {
                "arrange the images as person/image.pgm, with each directory named after the person".into()
            }
            Self::NoPerson { enrolling: true, .. } => {
                "name the person, or pass the directory of the image if it is named after the person".into()
            }
            Self::SingleFile { .. } => {
                "leave out this file, or move it into a person's directory: all images in the directories are read".into()
            }
            Self::NoPerson { .. } => {
                "move it into a directory named after the person, or leave it out and enroll it later".into()
            }
            Self::Nested { .. } => {
                "arrange the images as person/image.pgm, or pass the directory that directly contains the directories of the people".into()
            }
            Self::NotText { .. } => {
                "rename it: people and images are stored under the names of directories and files".into()
            }
            Self::OnePerson => "add images of at least one other person".into(),
        };
        Some(text)
    }
}

/// What a single name belongs to.
fn one_of(what: &str) -> &str {
    match what {
        "people" => "a person",
        _ => "an image",
    }
}

/// The name under which an image is enrolled, if it is another one.
fn other_name(given: (&str, &str), enrolled: (&str, &str)) -> String {
    let (image, person) = enrolled;
    if given == enrolled { String::new() } else { format!(", as `{}` of `{}`", printable(image), printable(person)) }
}

/// The hint for a setting that cannot be parsed.
fn known(what: &str) -> Option<&'static str> {
    Some(match what {
        "classifier" => {
            "use, for example, knn:3, svm:10 (C), svm-rbf:10,0.5 (C, γ) or perceptron:50,3 (epochs, margin), with 1 to 1000 neighbors and 1 to 10000 epochs"
        }
        "metric" => "use, for example, cosine",
        "kind of pixels" => "use, for example, standardized",
        "threshold" => "use, for example, learned",
        "share of faces to accept" => "use, for example, 0.95",
        "protocol" => "use, for example, first-5; the number is that of the training images of each person",
        _ => return None,
    })
}

/// What a setting that cannot be parsed should have been.
fn expected(what: &str) -> &'static str {
    match what {
        "classifier" => ": expected knn, centroid, svm, svm-rbf, perceptron or subspace",
        "metric" => ": expected euclidean, cosine, mahalanobis or mahalanobis-cosine",
        "kind of pixels" => ": expected raw or standardized",
        "threshold" => ": expected a number of 0 or more, `learned` or `none`",
        "share of faces to accept" => ": expected a number above 0 and at most 1",
        "protocol" => ": expected first-N, random-N, leave-one-out or incremental",
        _ => "",
    }
}

//! The recognizer: a model of faces, and the people in it.

use std::cmp::Ordering;

use ndarray::{Array1, Array2, ArrayView2, Axis};
use sha2::{Digest, Sha256};

use crate::faces::error::Error;
use crate::faces::options::FaceOptions;
use crate::io::source::natural;
use crate::model::batch::Method;
use crate::model::eigenspace_model::EigenspaceModel;
use crate::model::metadata::ImageShape;
use crate::model::truncation::Components;
use crate::rows::block::Block;

/// Images, one per row, with the person in each and its name.
#[derive(Debug, Clone, Copy)]
pub struct Faces<'a> {
    pub(crate) rows: Block<'a>,
    pub(crate) people: &'a [String],
    pub(crate) images: &'a [String],
}

impl<'a> Faces<'a> {
    /// The pixels of the images, the person in each image, and the name of each image. Images of
    /// the same person have different names. Weights of a block are ignored: every image counts
    /// once.
    pub fn new(rows: impl Into<Block<'a>>, people: &'a [String], images: &'a [String]) -> Self {
        Self { rows: rows.into().unweighted(), people, images }
    }
}

/// An enrolled image, without its pixels.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Enrolled {
    pub(crate) person: String,
    pub(crate) name: String,
    /// A digest of its pixels, to detect that it is enrolled again.
    pub(crate) digest: u64,
    /// Upper bound on its distance to μ + zV; 0 as long as no direction was dropped.
    pub(crate) outside: f64,
}

impl Enrolled {
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        let by_name = |a: &str, b: &str| natural(a, b).then_with(|| a.cmp(b));
        by_name(&self.person, &other.person).then_with(|| by_name(&self.name, &other.name))
    }
}

/// A model of faces, and the people in it.
///
/// ```
/// use eigenspace::faces::{FaceOptions, Faces, Recognizer, Threshold};
/// use ndarray::array;
///
/// let rows = array![[9.0, 1.0, 0.0], [8.0, 1.0, 1.0], [0.0, 1.0, 9.0], [1.0, 0.0, 8.0]];
/// let people = ["s1", "s1", "s2", "s2"].map(String::from);
/// let images = ["1", "2", "1", "2"].map(String::from);
/// let faces = Faces::new(&rows, &people, &images);
/// // Four images are too few to learn the thresholds for unknown faces and for other images.
/// let open = FaceOptions::new().unknown(Threshold::None).not_a_face(Threshold::None);
/// let recognizer = Recognizer::train(faces, open)?;
/// let found = recognizer.matcher()?.recognize(&array![[7.0, 2.0, 0.0]])?;
/// assert_eq!(found[0].person(), Some("s1"));
///
/// let without = recognizer.forget("s1")?;
/// assert_eq!(without.people(), ["s2"]);
/// # Ok::<(), eigenspace::faces::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Recognizer {
    pub(crate) model: EigenspaceModel,
    pub(crate) options: FaceOptions,
    /// In the order of people and names.
    pub(crate) images: Vec<Enrolled>,
    /// One row per image, one column per direction of the model.
    pub(crate) scores: Array2<f64>,
}

impl Recognizer {
    /// Trains a recognizer.
    pub fn train(faces: Faces<'_>, options: FaceOptions) -> Result<Self, Error> {
        options.check()?;
        let (images, order) = admit(faces, &[])?;
        faces.rows.check(faces.rows.ncols())?;
        if let Some((width, height)) = options.size {
            let (pixels, features) = (width.checked_mul(height), faces.rows.ncols());
            if !pixels.is_some_and(|pixels| pixels > 0 && [pixels, pixels.saturating_mul(3)].contains(&features)) {
                return Err(Error::ImageSize { size: (width, height), features });
            }
        }
        let rows = options.pixels.apply(faces.rows.select(&order));
        let model = EigenspaceModel::fit_with(rows.view(), Method::Auto, options.truncation())?;
        let model = described(model.with_components(options.components)?, &options)?;
        Self::from_rows(model, options, images, rows.view())
    }

    /// A recognizer whose model was fitted to these rows.
    fn from_rows(
        model: EigenspaceModel,
        options: FaceOptions,
        mut images: Vec<Enrolled>,
        rows: ArrayView2<'_, f64>,
    ) -> Result<Self, Error> {
        let (scores, outside) = in_all_directions(&model, rows)?;
        images.iter_mut().zip(outside).for_each(|(image, outside)| image.outside = outside);
        Ok(Self { model, options, images, scores })
    }

    /// The eigenspace of all enrolled images. It reports k components.
    pub fn model(&self) -> &EigenspaceModel {
        &self.model
    }

    /// The settings.
    pub fn options(&self) -> &FaceOptions {
        &self.options
    }

    /// Z: the scores of every enrolled image in all directions of the model, in the order of
    /// [`images`](Self::images).
    pub fn scores(&self) -> ArrayView2<'_, f64> {
        self.scores.view()
    }

    /// The people, in the order of their names.
    pub fn people(&self) -> Vec<&str> {
        let mut people: Vec<&str> = self.images.iter().map(|image| image.person.as_str()).collect();
        people.dedup();
        people
    }

    /// Person and name of every enrolled image, in order.
    pub fn images(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.images.iter().map(|image| (image.person.as_str(), image.name.as_str()))
    }

    /// Upper bound on the distance between any enrolled image and its reconstruction from the
    /// scores; 0 as long as no direction was dropped.
    pub fn worst_distance(&self) -> f64 {
        self.images.iter().map(|image| image.outside).fold(0.0, f64::max)
    }

    /// The same people with other settings. The kind of pixels and the dropped directions cannot be
    /// changed.
    pub fn with_options(&self, options: FaceOptions) -> Result<Self, Error> {
        options.check()?;
        if options.pixels != self.options.pixels {
            let text = options.pixels.to_string();
            return Err(Error::Setting { what: "kind of pixels for this recognizer", text });
        }
        let model = described(self.model.with_components(options.components)?, &options)?;
        Ok(Self { model, options, ..self.clone() })
    }

    /// An enrolled image, reconstructed from its scores, after the transformation of its pixels
    /// ([`Pixels`](crate::faces::Pixels)). It is exact as long as no direction was dropped, so
    /// anyone who has the recognizer has the images.
    pub fn image(&self, person: &str, image: &str) -> Result<Array1<f64>, Error> {
        let found = self.images.iter().position(|p| p.person == person && p.name == image);
        let found = found.ok_or_else(|| self.no_image(person, image))?;
        Ok(self.rows_of(&[found])?.index_axis_move(Axis(0), 0))
    }

    /// The error for a person or an image that is not enrolled.
    pub(crate) fn no_image(&self, person: &str, image: &str) -> Error {
        let theirs = self.images.iter().filter(|p| p.person == person);
        let images: Vec<String> = theirs.map(|p| p.name.clone()).collect();
        if images.is_empty() {
            let people = self.people().into_iter().map(str::to_owned).collect();
            return Error::UnknownPerson { person: person.into(), people };
        }
        Error::UnknownImage { person: person.into(), image: image.into(), images }
    }

    /// The index of the person in every image.
    pub(crate) fn persons(&self) -> Vec<usize> {
        let mut number = 0;
        let mut persons = Vec::with_capacity(self.images.len());
        for (i, image) in self.images.iter().enumerate() {
            number += usize::from(i > 0 && image.person != self.images[i - 1].person);
            persons.push(number);
        }
        persons
    }

    /// Reconstructs enrolled images, after the transformation of their pixels.
    pub(crate) fn rows_of(&self, chosen: &[usize]) -> Result<Array2<f64>, Error> {
        Ok(self.model.reconstruct(self.scores.select(Axis(0), chosen).view())?)
    }
}

/// The model with the shape of its images.
fn described(model: EigenspaceModel, options: &FaceOptions) -> Result<EigenspaceModel, Error> {
    let depth = options.depth.filter(|depth| [8, 16].contains(depth));
    let channels = |(width, height): (usize, usize)| model.features() / width.saturating_mul(height).max(1);
    let shape = |(width, height)| ImageShape::new(width, height, channels((width, height))).with_depth(depth);
    let metadata = model.metadata().clone().with_image(options.size.map(shape));
    Ok(model.with_metadata(metadata)?)
}

/// The scores of rows in all r directions, and the distance of each row to its reconstruction.
pub(crate) fn in_all_directions(
    model: &EigenspaceModel,
    rows: ArrayView2<'_, f64>,
) -> Result<(Array2<f64>, Vec<f64>), Error> {
    let all = model.with_components(Components::All)?;
    if !model.bound.is_truncated() {
        return Ok((all.project(rows)?, vec![0.0; rows.nrows()]));
    }
    let (q, scores) = all.distances(rows)?;
    Ok((scores, q.iter().map(|q| q.sqrt()).collect()))
}

/// Names under which images of strangers and of other things are reported; no person may have them.
const RESERVED_NAMES: [&str; 2] = ["unknown", "not a face"];

/// Checks new images against each other and against the enrolled ones. Returns them sorted, with
/// their original indices.
pub(crate) fn admit(faces: Faces<'_>, enrolled: &[Enrolled]) -> Result<(Vec<Enrolled>, Vec<usize>), Error> {
    let images = faces.rows.nrows();
    for (what, names) in [("people", faces.people.len()), ("images", faces.images.len())] {
        if names != images {
            return Err(Error::NameCount { images, names, what });
        }
    }
    if images == 0 {
        return Err(Error::NoImages);
    }
    let mut admitted: Vec<Enrolled> = Vec::with_capacity(images);
    for (i, row) in faces.rows.all_widened().rows().into_iter().enumerate() {
        let (person, name) = (faces.people[i].clone(), faces.images[i].clone());
        if person.is_empty() || name.is_empty() {
            return Err(Error::NoName { image: i });
        }
        if RESERVED_NAMES.iter().any(|word| person.trim().eq_ignore_ascii_case(word)) {
            return Err(Error::ReservedName { person });
        }
        if let Some(name) = [&person, &name].into_iter().find(|name| name.chars().any(char::is_control)) {
            return Err(Error::ControlName { name: name.clone() });
        }
        let mut hash = Sha256::new();
        row.iter().for_each(|pixel| hash.update(pixel.to_le_bytes()));
        let digest = hash.finalize().iter().take(8).fold(0, |sum, byte| (sum << 8) | u64::from(*byte));
        admitted.push(Enrolled { person, name, digest, outside: 0.0 });
    }
    let mut order: Vec<usize> = (0..images).collect();
    order.sort_by(|&a, &b| admitted[a].order(&admitted[b]));
    let sorted: Vec<Enrolled> = order.iter().map(|&i| admitted[i].clone()).collect();
    let mut known: std::collections::HashMap<u64, &Enrolled> = enrolled.iter().map(|old| (old.digest, old)).collect();
    let taken: std::collections::HashSet<(&str, &str)> =
        enrolled.iter().map(|old| (old.person.as_str(), old.name.as_str())).collect();
    for (i, new) in sorted.iter().enumerate() {
        if let Some(old) = known.insert(new.digest, new) {
            return Err(Error::AlreadyEnrolled {
                person: new.person.clone(),
                image: new.name.clone(),
                as_person: old.person.clone(),
                as_image: old.name.clone(),
            });
        }
        let twice = i > 0 && sorted[i - 1].order(new).is_eq();
        if twice || taken.contains(&(new.person.as_str(), new.name.as_str())) {
            return Err(Error::NameTaken { person: new.person.clone(), image: new.name.clone() });
        }
    }
    Ok((sorted, order))
}

//! The summary of all trials.
//!
//! ```text
//! accuracy = mean over trials of (right / tested),    deviation with the divisor (trials − 1)
//! rank-j   = share of images whose person is among the best j matches
//! ```

use crate::faces::evaluate::{Evaluation, Outcome};

/// Accuracy and confusions over all trials.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Summary {
    /// Mean accuracy over the trials.
    pub accuracy: f64,
    /// Standard deviation over the trials; 0 for a single trial. For leave-one-out, where each
    /// trial has one image, the standard deviation of a share.
    pub deviation: f64,
    /// Number of test images in all trials.
    pub tested: usize,
    /// Number of test images that were recognized correctly.
    pub correct: usize,
    /// Share of images whose person is among the best j matches, for j = 1, 2, …
    pub ranks: Vec<f64>,
    /// Mistakes: the person, the person recognized instead, and how often; most frequent first.
    pub confusions: Vec<(String, String, usize)>,
}

impl Evaluation {
    fn outcomes(&self) -> impl Iterator<Item = &Outcome> {
        self.trials.iter().flat_map(|trial| &trial.outcomes)
    }

    /// Summarizes all trials; `people` is the person in each image, `ranks` the number of ranks to
    /// compute.
    pub fn summary(&self, people: &[String], ranks: usize) -> Summary {
        let right = |outcome: &Outcome| outcome.ranking.first() == Some(&people[outcome.image]);
        let shares: Vec<f64> = self
            .trials
            .iter()
            .filter(|trial| !trial.outcomes.is_empty())
            .map(|trial| {
                trial.outcomes.iter().filter(|outcome| right(outcome)).count() as f64 / trial.outcomes.len() as f64
            })
            .collect();
        let n = shares.len() as f64;
        let accuracy = shares.iter().sum::<f64>() / n.max(1.0);
        let squares = shares.iter().map(|share| (share - accuracy).powi(2)).sum::<f64>();
        let single = self.trials.iter().all(|trial| trial.outcomes.len() == 1);
        let deviation = match shares.len() {
            0 | 1 => 0.0,
            _ if single => (accuracy * (1.0 - accuracy) / n).sqrt(),
            _ => (squares / (n - 1.0)).sqrt(),
        };
        let tested = self.outcomes().count();
        let place = |outcome: &Outcome| outcome.ranking.iter().position(|name| *name == people[outcome.image]);
        let within = |j: usize| self.outcomes().filter(|outcome| place(outcome).is_some_and(|p| p < j)).count();
        let mut confusions: Vec<(String, String, usize)> = Vec::new();
        for outcome in self.outcomes().filter(|outcome| !right(outcome)) {
            let truth = &people[outcome.image];
            let found = outcome.ranking.first().expect("a recognizer ranks at least one person").clone();
            match confusions.iter_mut().find(|(a, b, _)| a == truth && *b == found) {
                Some((_, _, count)) => *count += 1,
                None => confusions.push((truth.clone(), found, 1)),
            }
        }
        confusions.sort_by_key(|confusion| std::cmp::Reverse(confusion.2));
        Summary {
            accuracy,
            deviation,
            tested,
            correct: self.outcomes().filter(|outcome| right(outcome)).count(),
            ranks: (1..=ranks).map(|j| within(j) as f64 / (tested as f64).max(1.0)).collect(),
            confusions,
        }
    }
}

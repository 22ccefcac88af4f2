//! The proof of a paving in pieces so small that each is proved by itself: cuts, and what holds between them.
//!
//! ```text
//! B ─ cuts ─▶ cells ─ cuts ─▶ parts ,   on each part:   state consistent, answer as claimed
//! ```
//!
//! Whoever checks a part needs to search nothing: the coordinates that joints determine are given with it.

use super::super::interval_terms::{Consistency, Touch};
use super::super::loop_closure::Configuration;
use super::super::safe_interval::SafeError;
use super::check::cut;
use super::{PavedCell, Paver, Paving, PavingQuestion, PavingReason};
use crate::formula::Interval;
use crate::lagrangian::Family;

/// Parts of a cell at most.
const MAX_PARTS: usize = 4096;

/// A list in preorder: a cut is followed by all that lies below it, then by all that lies above.
#[derive(Clone, Debug, PartialEq)]
pub enum PavingStep<T> {
    /// A dimension is cut: the parameters of the question, those for which all values are meant, then
    /// directions of sliding.
    Cut {
        /// Its number.
        dimension: usize,
        /// Where.
        at: f64,
    },
    /// What holds between the cuts.
    Leaf(T),
}

/// A cell with its proof.
#[derive(Clone, Debug, PartialEq)]
pub struct ProvedCell {
    /// What is proved.
    pub reason: PavingReason,
    /// Where it is refuted: values of the dimensions behind those of the question.
    pub values: Option<Vec<f64>>,
    /// On each of these parts.
    pub parts: Vec<PavingStep<Option<Follows>>>,
}

/// Coordinates that follow from joints, on a part of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Follows {
    /// The joints close in exactly one way in here, for all values of the part.
    pub coordinates: Vec<Interval>,
    /// The configuration in the list that lies in here.
    pub from: usize,
}

/// The proof of a paving.
#[derive(Clone, Debug)]
pub struct PavingProof {
    /// Cells that could be proved part by part, in preorder; others are undecided.
    pub cells: Vec<PavingStep<ProvedCell>>,
    /// Coordinates that follow from joints.
    pub unknowns: Vec<usize>,
    /// The joints.
    pub joints: Vec<usize>,
    /// The parameters on which these depend, as dimensions.
    pub moving: Vec<usize>,
    /// Configurations, each of which goes on from one before it; the first is that of the file.
    pub configurations: Vec<Configuration>,
}

/// Proves a paving part by part.
pub fn paving_proof(
    family: &Family,
    design: &[f64],
    question: &PavingQuestion<'_>,
    paving: &Paving,
) -> Result<PavingProof, SafeError> {
    let mut paver = Paver::new(family, design, question)?;
    let names: Vec<&str> = family.free().collect();
    let mut order: Vec<usize> = (question.over.iter().chain(question.for_all))
        .filter_map(|(name, _)| names.iter().position(|n| n == name))
        .collect();
    order.extend(names.len()..paver.domain.len());
    let mut cells = Vec::new();
    let mut waiting = vec![(paving.ranges.clone(), (0..paving.cells.len()).collect::<Vec<usize>>())];
    while let Some((sides, list)) = waiting.pop() {
        if let [only] = list[..] {
            cells.push(PavingStep::Leaf(paver.proved_cell(&paving.cells[only], &order)));
            continue;
        }
        let found = (0..sides.len()).find_map(|k| Some((k, cut(&paving.cells, &list, k)?)));
        // Cells come from halving.
        let Some((k, at)) = found else { break };
        let (low, high): (Vec<usize>, Vec<usize>) =
            list.into_iter().partition(|&c| paving.cells[c].hi[k] <= at);
        let (mut below, mut above) = (sides.clone(), sides);
        (below[k][1], above[k][0]) = (at, at);
        waiting.push((above, high));
        waiting.push((below, low));
        cells.push(PavingStep::Cut { dimension: k, at });
    }
    let moving = (0..order.len()).filter(|&k| paver.prover.moves(order[k])).collect();
    let (unknowns, joints, configurations) = paver.prover.into_configurations();
    let to_file = |p: &Vec<f64>| -> Vec<f64> { order.iter().filter_map(|&k| p.get(k).copied()).collect() };
    let configurations =
        configurations.into_iter().map(|c| Configuration { p: to_file(&c.p), ..c }).collect();
    Ok(PavingProof { cells, unknowns, joints, moving, configurations })
}

impl Paver<'_> {
    fn proved_cell(&mut self, cell: &PavedCell, order: &[usize]) -> ProvedCell {
        let undecided = ProvedCell { reason: PavingReason::Undecided, values: None, parts: vec![] };
        if cell.reason == PavingReason::Undecided {
            return undecided;
        }
        let mut at = self.domain.clone();
        for (i, &dimension) in self.outer.iter().enumerate() {
            at[dimension] = Interval::new(cell.lo[i], cell.hi[i]);
        }
        let mut values = None;
        if cell.reason.verdict() == delassus_solve::lcp::Verdict::Refuted {
            let Consistency::Consistent(touch) = self.prover.consistency_of_parts(&at, super::STATE_PARTS)
            else {
                return undecided;
            };
            let (found, point) = self.answers(&at, &touch);
            let (true, Some(point)) = (found == cell.reason, point) else { return undecided };
            values = Some(order[self.outer.len()..].iter().map(|&k| point[k].middle()).collect());
            self.inner.iter().for_each(|&k| at[k] = Interval::point(point[k].middle()));
        }
        match self.parts(at, cell.reason, order) {
            Some(parts) => ProvedCell { reason: cell.reason, values, parts },
            None => undecided,
        }
    }

    /// The parts on which a reason is proved; `None` where that takes too many.
    fn parts(
        &mut self,
        whole: Vec<Interval>,
        reason: PavingReason,
        order: &[usize],
    ) -> Option<Vec<PavingStep<Option<Follows>>>> {
        let mut steps = Vec::new();
        let mut waiting = vec![whole];
        while let Some(part) = waiting.pop() {
            let (state, enclosed) = self.prover.consistency_of_one(&part);
            let follows = enclosed.map(|e| Follows { coordinates: e.alone, from: e.from });
            let proved = match &state {
                Consistency::Broken => reason == PavingReason::NoState,
                Consistency::Consistent(touch) => self.proves(&part, touch, reason),
                Consistency::Unclear => false,
            };
            if proved {
                steps.push(PavingStep::Leaf(follows));
                continue;
            }
            let share = |k: usize| part[k].width() / self.domain[k].width();
            let divisible = |k: &usize| part[*k].lo < part[*k].middle() && part[*k].middle() < part[*k].hi;
            let unclear = state == Consistency::Unclear;
            let all = self.outer.iter().chain(&self.inner).copied();
            let helps = |k: &usize| self.matters[*k] && (!unclear || self.prover.moves(*k));
            let widest =
                all.filter(divisible).filter(helps).max_by(|&a, &b| share(a).total_cmp(&share(b)))?;
            if steps.len() + waiting.len() > 2 * MAX_PARTS {
                return None;
            }
            let middle = part[widest].middle();
            steps.push(PavingStep::Cut { dimension: order.iter().position(|&k| k == widest)?, at: middle });
            let (mut low, mut high) = (part.clone(), part);
            (low[widest].hi, high[widest].lo) = (middle, middle);
            waiting.push(high);
            waiting.push(low);
        }
        Some(steps)
    }

    fn proves(&mut self, part: &[Interval], touch: &[Touch], reason: PavingReason) -> bool {
        let found = self.prover.examine(part, touch, self.any_load).map(PavingReason::from);
        found == Some(reason) || (reason == PavingReason::ThisLoad && found == Some(PavingReason::EveryLoad))
    }
}

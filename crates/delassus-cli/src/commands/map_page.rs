//! Maps as pages: a click on a cell shows the state there with its verdict, cones and solutions.

use std::path::PathBuf;

use delassus_page::Page;
use delassus_report::{Axis, Cell};
use serde_json::{Value, json};

use crate::run::write_page;

/// Bytes of analyses that a page holds before they are compressed, about twenty times as many as after it.
const MAX_STATES: usize = 96 << 20;

/// What is drawn.
pub struct MapPage<'a> {
    /// Name of the scene.
    pub name: &'a str,
    /// The quantity, as it was asked for and as it is called.
    pub show: &'a str,
    /// See `show`.
    pub label: &'a str,
    /// To the right.
    pub x: &'a Axis,
    /// Upward.
    pub y: Option<&'a Axis>,
    /// Row by row from the least y: what is shown, and the analysis there.
    pub cells: &'a [(Cell, String)],
    /// What `safe` found along x.
    pub safe: Option<Value>,
}

impl MapPage<'_> {
    /// Writes it; the error is a message ready for stderr.
    pub fn write(self, path: &PathBuf) -> Result<(), String> {
        let name = if self.name.is_empty() { "system" } else { self.name };
        let mut page = Page::new(&format!("{name}: {}", self.label));
        let stride = self.stride();
        let (mut texts, mut ends) = (vec![], Vec::with_capacity(self.cells.len()));
        for (k, (_, text)) in self.cells.iter().enumerate() {
            if self.keeps(k, stride) {
                texts.extend(text.as_bytes());
            }
            ends.push(texts.len() as u32);
        }
        let value = |(cell, _): &(Cell, String)| match cell {
            Cell::Number(x) => json!(x),
            Cell::Word(word) => json!(word),
            Cell::Absent | Cell::Missing | Cell::NoState => Value::Null,
        };
        let axis = |axis: &Axis| {
            let shown: Vec<f64> = axis.values.iter().map(|x| axis.shown(*x)).collect();
            json!({ "name": axis.name, "label": axis.label(), "values": axis.values, "shown": shown })
        };
        let mut map = json!({
            "show": self.show, "label": self.label, "x": axis(self.x), "y": self.y.map(axis),
            "cells": self.cells.iter().map(value).collect::<Vec<_>>(), "stride": stride,
        });
        map["states"] = page.arrays().small(&texts);
        map["ends"] = page.arrays().words(&ends);
        if let Some(safe) = self.safe {
            map["safe"] = safe;
        }
        page.put("map", map);
        write_page(path, &page)
    }

    /// Analyses of every so many columns and rows fit.
    fn stride(&self) -> usize {
        let kept = |stride: usize| -> usize {
            let all = self.cells.iter().enumerate().filter(|(k, _)| self.keeps(*k, stride));
            all.map(|(_, (_, text))| text.len()).sum()
        };
        (0..).map(|power| 1usize << power).find(|&stride| kept(stride) <= MAX_STATES).unwrap_or(1)
    }

    fn keeps(&self, k: usize, stride: usize) -> bool {
        let columns = self.x.values.len();
        (k % columns).is_multiple_of(stride) && (k / columns).is_multiple_of(stride)
    }
}

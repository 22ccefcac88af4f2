//! Maps as pages: a click on a cell shows the state there with its verdict, cones and solutions.

use std::path::Path;

use delassus_page::Page;
use delassus_report::{Axis, Cell, Grid, Quantity};
use serde_json::{Value, json};

use crate::run::write_page;
use crate::scene::Scene;

/// Bytes of analyses that a page holds before they are compressed, about twenty times as many as after it.
const MAX_STATES: usize = 96 << 20;

/// States that the page of a safe interval shows along its parameter.
const STRIP: usize = 241;

/// The page of a safe interval: states along the parameter, with the interval over them. `found` is its
/// document, `text` its report; the error is a message ready for stderr.
pub fn write_safe_page(
    path: &Path,
    scene: &Scene,
    set: &[(String, String)],
    found: &Value,
    text: &str,
) -> Result<(), String> {
    let end = |k: usize| found["within"][k].as_f64().unwrap_or_default();
    let values = (0..STRIP).map(|k| end(0) + (end(1) - end(0)) * k as f64 / (STRIP - 1) as f64).collect();
    let name = found["parameter"].as_str().unwrap_or_default().to_owned();
    let x = Axis { name: name.clone(), values, unit: None };
    let grid = Grid { text: &scene.text, folder: None, overrides: set, axes: std::slice::from_ref(&x) };
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    let cells = grid.analyses(&Quantity::Solutions, threads, &|_| true).unwrap_or_default();
    // The first line names the system.
    let words: Vec<&str> = text.lines().skip(1).map(str::trim).collect();
    let safe = json!({
        "words": words, "certified": found["certified"], "interval": found["interval"], "present": found["present"],
    });
    let label = format!("safe values of {name}");
    let title = &scene.file.system.name;
    MapPage { name: title, show: "solutions", label: &label, x: &x, y: None, cells: &cells, safe: Some(safe) }
        .write(path)
}

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
    pub fn write(self, path: &Path) -> Result<(), String> {
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

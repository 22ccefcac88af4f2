//! The motion of a run as Parquet: the columns of the `.csv`, and the forces in a file beside it.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use delassus::stepper::Stepper;
use delassus::world::World;
use parquet::basic::{ConvertedType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use crate::run_output::{FORCE_COLUMNS, force_rows, forces_path, motion_columns, motion_row};

/// Rows that are written together.
const GROUP: usize = 4096;

/// Two files of columns.
pub struct ParquetOutput {
    motion: Columns,
    forces: Columns,
    row: Vec<f64>,
}

impl ParquetOutput {
    /// New files. A file with a footer cannot be gone on with, so that a run that goes on needs another name.
    pub fn open(path: &Path, world: &World, goes_on: Option<f64>) -> Result<ParquetOutput, String> {
        if goes_on.is_some() && path.exists() {
            return Err(format!(
                "{}: is there already, and a Parquet file cannot be gone on with: expected another name",
                path.display()
            ));
        }
        let motion = Columns::open(path, &[], &motion_columns(world))?;
        let numbers: Vec<String> = ["time"].iter().chain(&FORCE_COLUMNS).map(|s| s.to_string()).collect();
        let forces = Columns::open(&forces_path(path), &["kind", "name"], &numbers)?;
        Ok(ParquetOutput { motion, forces, row: vec![] })
    }

    /// Adds a row of motion.
    pub fn motion(&mut self, world: &World, stepper: &Stepper<'_>) -> Result<(), String> {
        motion_row(world, stepper, &mut self.row);
        self.motion.row(&[], self.row.iter().copied())
    }

    /// Adds the forces of the last step.
    pub fn forces(&mut self, world: &World, stepper: &Stepper<'_>) -> Result<(), String> {
        let t = stepper.state().t;
        let forces = &mut self.forces;
        force_rows(world, stepper, |kind, name, numbers| {
            forces.row(&[kind, &name], std::iter::once(t).chain(numbers))
        })
    }

    /// Writes what is left, and the footers.
    pub fn finish(&mut self) -> Result<(), String> {
        self.motion.finish()?;
        self.forces.finish()
    }
}

/// A file: columns of text, then columns of numbers.
struct Columns {
    path: PathBuf,
    writer: SerializedFileWriter<File>,
    texts: Vec<Vec<ByteArray>>,
    numbers: Vec<Vec<f64>>,
}

impl Columns {
    fn open(path: &Path, texts: &[&str], numbers: &[String]) -> Result<Columns, String> {
        let fail = |e: &dyn std::fmt::Display| format!("{}: cannot be written: {e}", path.display());
        let column = |name: &str, kind: Physical| {
            let text = if kind == Physical::BYTE_ARRAY { ConvertedType::UTF8 } else { ConvertedType::NONE };
            let builder = Type::primitive_type_builder(name, kind).with_repetition(Repetition::REQUIRED);
            builder.with_converted_type(text).build().map(Arc::new)
        };
        let all = (texts.iter().map(|name| column(name, Physical::BYTE_ARRAY)))
            .chain(numbers.iter().map(|name| column(name, Physical::DOUBLE)));
        let fields = all.collect::<Result<Vec<_>, ParquetError>>().map_err(|e| fail(&e))?;
        let schema = Type::group_type_builder("run").with_fields(fields).build().map_err(|e| fail(&e))?;
        let file = File::create(path).map_err(|e| fail(&e))?;
        let properties = Arc::new(WriterProperties::builder().build());
        let writer = SerializedFileWriter::new(file, Arc::new(schema), properties).map_err(|e| fail(&e))?;
        let (texts, numbers) = (vec![vec![]; texts.len()], vec![vec![]; numbers.len()]);
        Ok(Columns { path: path.to_owned(), writer, texts, numbers })
    }

    fn row(&mut self, texts: &[&str], numbers: impl Iterator<Item = f64>) -> Result<(), String> {
        self.texts.iter_mut().zip(texts).for_each(|(column, text)| column.push(ByteArray::from(*text)));
        self.numbers.iter_mut().zip(numbers).for_each(|(column, x)| column.push(x));
        if self.numbers.first().is_some_and(|column| column.len() >= GROUP) {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), String> {
        let Columns { path, writer, texts, numbers } = self;
        let mut write = || {
            let mut group = writer.next_row_group()?;
            for text in texts.iter_mut() {
                if let Some(mut column) = group.next_column()? {
                    column.typed::<ByteArrayType>().write_batch(text, None, None)?;
                    column.close()?;
                }
                text.clear();
            }
            for values in numbers.iter_mut() {
                if let Some(mut column) = group.next_column()? {
                    column.typed::<DoubleType>().write_batch(values, None, None)?;
                    column.close()?;
                }
                values.clear();
            }
            group.close().map(|_| ())
        };
        write().map_err(|e: ParquetError| format!("{}: cannot be written: {e}", path.display()))
    }

    fn finish(&mut self) -> Result<(), String> {
        if self.numbers.first().is_some_and(|column| !column.is_empty()) {
            self.flush()?;
        }
        let path = &self.path;
        self.writer.finish().map(|_| ()).map_err(|e| format!("{}: cannot be written: {e}", path.display()))
    }
}

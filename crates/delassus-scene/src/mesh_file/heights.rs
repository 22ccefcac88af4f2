//! Heights of height fields: the brightness of a picture, or MuJoCo's binary files.

use std::path::Path;

use super::{MeshError, read_bytes};

/// The most rows and the most columns.
const MAX_SIDE: usize = 4096;

/// Heights by rows, the farthest along y first, each along x.
#[derive(Clone, Debug, PartialEq)]
pub struct Heights {
    /// How many rows.
    pub rows: usize,
    /// How many numbers a row has.
    pub columns: usize,
    /// The heights.
    pub values: Vec<f64>,
}

/// Reads a `.png`, of whose colours the first counts, with 256 steps, or a file of two whole numbers of four
/// bytes (rows, columns) and the heights in single precision, the nearest row along y first.
pub fn read_heights(path: &Path) -> Result<Heights, MeshError> {
    let bytes = read_bytes(path)?;
    if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("png")) {
        return parse_picture(&bytes);
    }
    parse_binary(&bytes).ok_or(MeshError::Heights)
}

fn parse_picture(bytes: &[u8]) -> Result<Heights, MeshError> {
    let wrong = |error: png::DecodingError| MeshError::Picture { message: error.to_string() };
    let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().map_err(wrong)?;
    let [rows, columns] = [reader.info().height, reader.info().width].map(|n| n as usize);
    let size =
        reader.output_buffer_size().filter(|_| rows.max(columns) <= MAX_SIDE && rows.min(columns) >= 2);
    let Some(size) = size else {
        let message = format!("it has {columns} × {rows} points, expected 2 to {MAX_SIDE} along each side");
        return Err(MeshError::Picture { message });
    };
    let mut pixels = vec![0; size];
    let frame = reader.next_frame(&mut pixels).map_err(wrong)?;
    let values = pixels.chunks_exact(frame.color_type.samples()).map(|pixel| f64::from(pixel[0]));
    Ok(Heights { rows, columns, values: values.take(rows * columns).collect() })
}

fn parse_binary(bytes: &[u8]) -> Option<Heights> {
    let (words, rest) = bytes.as_chunks::<4>();
    let [rows, columns, heights @ ..] = words else { return None };
    let [rows, columns] = [rows, columns].map(|n| usize::try_from(i32::from_le_bytes(*n)).unwrap_or(0));
    let fits = |n: usize| (2..=MAX_SIDE).contains(&n);
    if !(rest.is_empty() && fits(rows) && fits(columns) && heights.len() == rows * columns) {
        return None;
    }
    let row = |r: usize| heights[r * columns..(r + 1) * columns].iter();
    let values: Vec<f64> = (0..rows).rev().flat_map(row).map(|x| f64::from(f32::from_le_bytes(*x))).collect();
    values.iter().all(|x| x.is_finite()).then_some(Heights { rows, columns, values })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_numbers_has_as_many_as_it_says() {
        let file = |rows: i32, columns: i32, heights: &[f32]| {
            let mut bytes: Vec<u8> = [rows, columns].into_iter().flat_map(i32::to_le_bytes).collect();
            bytes.extend(heights.iter().flat_map(|x| x.to_le_bytes()));
            parse_binary(&bytes)
        };
        let heights = file(2, 3, &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert_eq!(heights, Heights { rows: 2, columns: 3, values: vec![3.0, 4.0, 5.0, 0.0, 1.0, 2.0] });
        assert_eq!(file(2, 2, &[0.0; 5]), None);
        assert_eq!(file(-2, -2, &[0.0; 4]), None);
        assert_eq!(file(2, 2, &[0.0, 1.0, f32::NAN, 0.0]), None);
        assert_eq!(parse_binary(&[1, 2, 3]), None);
    }

    #[test]
    fn a_picture_is_read_with_256_steps_and_a_broken_one_is_refused() {
        let picture = |color: png::ColorType, depth: png::BitDepth, size: [u32; 2], data: &[u8]| {
            let mut bytes = Vec::new();
            let mut encoder = png::Encoder::new(&mut bytes, size[0], size[1]);
            encoder.set_color(color);
            encoder.set_depth(depth);
            encoder.write_header().unwrap().write_image_data(data).unwrap();
            bytes
        };
        use png::{BitDepth, ColorType};
        let grey = picture(ColorType::Grayscale, BitDepth::Eight, [3, 2], &[10, 20, 30, 40, 50, 255]);
        let expected = Heights { rows: 2, columns: 3, values: vec![10.0, 20.0, 30.0, 40.0, 50.0, 255.0] };
        assert_eq!(parse_picture(&grey), Ok(expected.clone()));
        // The high bytes of a deeper one; the red of a coloured one.
        let deep: Vec<u8> = [10, 20, 30, 40, 50, 255].into_iter().flat_map(|x| [x, 7]).collect();
        let deep = picture(ColorType::Grayscale, BitDepth::Sixteen, [3, 2], &deep);
        assert_eq!(parse_picture(&deep), Ok(expected.clone()));
        let red: Vec<u8> = [10, 20, 30, 40, 50, 255].into_iter().flat_map(|x| [x, 1, 2]).collect();
        assert_eq!(parse_picture(&picture(ColorType::Rgb, BitDepth::Eight, [3, 2], &red)), Ok(expected));
        let narrow = picture(ColorType::Grayscale, BitDepth::Eight, [1, 2], &[1, 2]);
        for broken in [&grey[..30], b"no picture", &narrow] {
            assert!(matches!(parse_picture(broken), Err(MeshError::Picture { .. })));
        }
    }
}

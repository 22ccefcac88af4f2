//! Arrays of numbers as bytes that compress well.
//!
//! ```text
//! plane_k = (byte k of x_0, byte k of x_1, …) ,   array = plane_0 plane_1 … ,   blob = zlib(array array …)
//! ```
//!
//! The bytes of equal weight stand together: the upper ones of numbers that change slowly are nearly all
//! equal. An array is named in the document by its type, its place in the blob and its length.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde_json::{Value, json};

/// The arrays of a page, before they are compressed.
#[derive(Clone, Debug, Default)]
pub struct Arrays {
    bytes: Vec<u8>,
}

impl Arrays {
    fn put<const N: usize>(&mut self, kind: &str, values: &[[u8; N]]) -> Value {
        let at = self.bytes.len();
        self.bytes.reserve(N * values.len());
        for k in 0..N {
            self.bytes.extend(values.iter().map(|x| x[k]));
        }
        json!({ "type": kind, "at": at, "length": values.len() })
    }

    /// Adds doubles.
    pub fn doubles(&mut self, values: &[f64]) -> Value {
        self.put("f64", &values.iter().map(|x| x.to_le_bytes()).collect::<Vec<_>>())
    }

    /// Adds numbers in single precision.
    pub fn singles(&mut self, values: impl Iterator<Item = f64>) -> Value {
        self.put("f32", &values.map(|x| (x as f32).to_le_bytes()).collect::<Vec<_>>())
    }

    /// Adds whole numbers.
    pub fn words(&mut self, values: &[u32]) -> Value {
        self.put("u32", &values.iter().map(|x| x.to_le_bytes()).collect::<Vec<_>>())
    }

    /// Adds whole numbers of 16 bits.
    pub fn halves(&mut self, values: &[u16]) -> Value {
        self.put("u16", &values.iter().map(|x| x.to_le_bytes()).collect::<Vec<_>>())
    }

    /// Adds whole numbers of 8 bits.
    pub fn small(&mut self, values: &[u8]) -> Value {
        self.put("u8", &values.iter().map(|x| [*x]).collect::<Vec<_>>())
    }

    /// The blob as it stands in the page.
    pub(crate) fn packed(&self) -> String {
        let mut encoder = ZlibEncoder::new(vec![], Compression::default());
        // Writing to memory cannot fail.
        base64(&encoder.write_all(&self.bytes).and_then(|()| encoder.finish()).unwrap_or_default())
    }
}

/// RFC 4648 §4, with padding.
pub fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let at = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for k in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * k) & 63) as usize];
            out.push(if k <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_equal_weight_stand_together() {
        let mut arrays = Arrays::default();
        assert_eq!(arrays.small(&[7]), json!({ "type": "u8", "at": 0, "length": 1 }));
        let named = arrays.halves(&[0x0102, 0x0304]);
        assert_eq!(named, json!({ "type": "u16", "at": 1, "length": 2 }));
        assert_eq!(arrays.bytes, [7, 2, 4, 1, 3]);
    }

    /// The examples of RFC 4648 §10.
    #[test]
    fn base64_is_that_of_the_standard() {
        for (text, coded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(text.as_bytes()), coded);
        }
    }
}

//! Bytes as text of 64 letters, as XML carries them (RFC 4648, section 4).

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Three bytes are four letters of six bits each; the last group is filled up with `=`.
pub(super) fn encode(bytes: &[u8], text: &mut String) {
    text.reserve(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = (0..3).fold(0u32, |bits, k| bits << 8 | u32::from(group.get(k).copied().unwrap_or(0)));
        for k in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * k)) as usize & 63];
            text.push(if k <= group.len() { letter.into() } else { '=' });
        }
    }
}

#[cfg(test)]
mod tests {
    /// The test vectors of RFC 4648, section 10, and letters beyond them.
    #[test]
    fn test_vectors_of_the_standard() {
        let vectors: [(&[u8], &str); 8] = [
            (b"", ""),
            (b"f", "Zg=="),
            (b"fo", "Zm8="),
            (b"foo", "Zm9v"),
            (b"foob", "Zm9vYg=="),
            (b"fooba", "Zm9vYmE="),
            (b"foobar", "Zm9vYmFy"),
            (&[0xfb, 0xff, 0xbf], "+/+/"),
        ];
        for (bytes, expected) in vectors {
            let mut text = String::new();
            super::encode(bytes, &mut text);
            assert_eq!(text, expected);
        }
    }
}

//! Loops over pixels. Each writes to a slice of known length with no branch per pixel.

/// Swaps the first and third byte of each 3-byte pixel in place: RGB to BGR and back.
///
/// Works on four pixels as three words, which is about three times as fast as byte by byte and needs no CPU feature.
pub fn swap_red_blue(pixels: &mut [u8]) {
    let mut blocks = pixels.chunks_exact_mut(12);
    for block in &mut blocks {
        let swapped = swap_four(block);
        block.copy_from_slice(&swapped);
    }
    for pixel in blocks.into_remainder().chunks_exact_mut(3) {
        pixel.swap(0, 2);
    }
}

/// Copies 3-byte pixels with the first and third byte swapped; copies as many as fit both slices.
pub fn copy_swapped(from: &[u8], to: &mut [u8]) {
    let len = from.len().min(to.len());
    let (from, to) = (&from[..len], &mut to[..len]);
    let mut source = from.chunks_exact(12);
    let mut target = to.chunks_exact_mut(12);
    for (s, t) in (&mut source).zip(&mut target) {
        t.copy_from_slice(&swap_four(s));
    }
    for (s, t) in source
        .remainder()
        .chunks_exact(3)
        .zip(target.into_remainder().chunks_exact_mut(3))
    {
        t.copy_from_slice(&[s[2], s[1], s[0]]);
    }
}

/// Swaps red and blue of four pixels; `block` has 12 bytes.
#[inline(always)]
fn swap_four(block: &[u8]) -> [u8; 12] {
    let word = |i: usize| u32::from_le_bytes([block[i], block[i + 1], block[i + 2], block[i + 3]]);
    // Little-endian words, lowest byte first: a = B0 G0 R0 B1, b = G1 R1 B2 G2, c = R2 B3 G3 R3.
    let (a, b, c) = (word(0), word(4), word(8));
    let x = (a >> 16 & 0xFF) | (a & 0xFF00) | (a & 0xFF) << 16 | (b & 0xFF00) << 16; // R0 G0 B0 R1
    let y = (b & 0xFF00_00FF) | (a >> 24) << 8 | (c & 0xFF) << 16; // G1 B1 R2 G2
    let z = (b >> 16 & 0xFF) | (c >> 24) << 8 | (c & 0xFF_0000) | (c & 0xFF00) << 16; // B2 R3 G3 B3
    let mut out = [0; 12];
    out[..4].copy_from_slice(&x.to_le_bytes());
    out[4..8].copy_from_slice(&y.to_le_bytes());
    out[8..].copy_from_slice(&z.to_le_bytes());
    out
}

/// Luma of an RGB pixel as libpng, and with it OpenCV's grey reading of colour files, computes it: ITU-R BT.601 in 15-bit
/// fixed point, truncated.
pub fn luma([r, g, b]: [u8; 3]) -> u8 {
    ((9797 * u32::from(r) + 19234 * u32::from(g) + 3737 * u32::from(b)) >> 15) as u8
}

/// Copies 16-bit words and swaps their bytes: big-endian files to little-endian messages.
pub fn swap_bytes_16(from: &[u8], to: &mut [u8]) {
    for (s, t) in from.chunks_exact(2).zip(to.chunks_exact_mut(2)) {
        t.copy_from_slice(&[s[1], s[0]]);
    }
}

//! Loops over pixels. Each writes to a slice of known length with no branch per pixel.

/// Bytes per step of [`copy_swapped`]: 16 pixels, three vector registers.
const BLOCK: usize = 48;

/// Copies 3-byte pixels with the first and third byte swapped, RGB to BGR and back; copies as many as fit both slices.
///
/// The first byte of a result pixel lies two bytes to the right in the source, the second at the same index, the third two
/// bytes to the left. Three loads with constant masks become vector code on any CPU; a byte shuffle would need SSSE3.
pub fn copy_swapped(from: &[u8], to: &mut [u8]) {
    const fn mask(offset: usize) -> [u8; BLOCK] {
        let mut mask = [0; BLOCK];
        let mut i = offset;
        while i < BLOCK {
            mask[i] = 0xFF;
            i += 3;
        }
        mask
    }
    const FIRST: [u8; BLOCK] = mask(0);
    const SECOND: [u8; BLOCK] = mask(1);
    const THIRD: [u8; BLOCK] = mask(2);

    let len = from.len().min(to.len()) / 3 * 3;
    let (from, to) = (&from[..len], &mut to[..len]);
    // The vector loop reads two bytes before and after each block, so the first pixel and the end are copied one by one.
    let blocks = (len.saturating_sub(3 + 2)) / BLOCK;
    let end = 3 + blocks * BLOCK;
    if blocks > 0 {
        for (i, out) in to[3..end].chunks_exact_mut(BLOCK).enumerate() {
            let at = 3 + i * BLOCK;
            let window = &from[at - 2..at + BLOCK + 2];
            for k in 0..BLOCK {
                out[k] = (window[k + 4] & FIRST[k])
                    | (window[k + 2] & SECOND[k])
                    | (window[k] & THIRD[k]);
            }
        }
    }
    let one_by_one = |from: &[u8], to: &mut [u8]| {
        for (s, t) in from.chunks_exact(3).zip(to.chunks_exact_mut(3)) {
            t.copy_from_slice(&[s[2], s[1], s[0]]);
        }
    };
    let (head, tail) = if blocks > 0 { (3, end) } else { (0, 0) };
    one_by_one(&from[..head], &mut to[..head]);
    one_by_one(&from[tail..], &mut to[tail..]);
}

/// Luma of an RGB pixel as in libpng, hence in OpenCV's grey reading of colour files: ITU-R BT.601 in 15-bit fixed
/// point, truncated.
pub fn luma([r, g, b]: [u8; 3]) -> u8 {
    ((9797 * u32::from(r) + 19234 * u32::from(g) + 3737 * u32::from(b)) >> 15) as u8
}

/// Copies 16-bit words and swaps their bytes: big-endian files to little-endian messages.
pub fn swap_bytes_16(from: &[u8], to: &mut [u8]) {
    for (s, t) in from.chunks_exact(2).zip(to.chunks_exact_mut(2)) {
        t.copy_from_slice(&[s[1], s[0]]);
    }
}

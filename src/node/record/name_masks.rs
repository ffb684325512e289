//! Replaces names that identify the owner of a recording. The same name always gets the same replacement.
use regex_lite::Regex;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::Range;

/// Words that identify nobody: they are common on all machines, or parts of topic names.
const COMMON_WORDS: [&str; 9] =
    ["admin", "home", "localhost", "rfly", "rflysim", "root", "ubuntu", "user", "users"];
/// Hosts of URLs that identify nobody.
const PUBLIC_HOSTS: [&str; 2] = ["localhost", "app.foxglove.dev"];
/// Minimum length of a masked word: shorter ones would match everywhere.
const MIN_WORD_LEN: usize = 3;
/// Maximum length of a user name that is also masked outside of paths: each length costs a look-up at each start of a word.
const MAX_WORD_LEN: usize = 64;

/// Finds names and replaces them; stores the replacements.
#[derive(Default)]
pub(super) struct NameMasks {
    patterns: Vec<(NameKind, Regex)>,
    /// Whole words to mask, in lower case.
    words: HashSet<String>,
    /// Lengths of these words in bytes.
    word_lens: BTreeSet<usize>,
    /// Number of each /24 network.
    networks: BTreeMap<[u8; 3], u16>,
    /// Number of each name, in lower case.
    numbers: BTreeMap<(NameKind, String), usize>,
    /// Replacement of each name.
    pub(super) renamed: BTreeMap<String, String>,
}

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum NameKind {
    Mail,
    Url,
    Home,
    Device,
    Host,
    Address,
    Hardware,
    Address6,
    Word,
}

#[rustfmt::skip] // a table
const PATTERNS: [(NameKind, &str); 8] = [
    (NameKind::Mail, r"([A-Za-z0-9._%+-]+@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,})"),
    (NameKind::Url, r#"[A-Za-z][A-Za-z0-9+.-]*://([^/\s"':,\]]+)"#),
    (NameKind::Home, r#"[/\\](?:home|Users|media)[/\\]+(?:([^/\\"'\r\n]{1,64})[/\\]|([^/\\\s"',;:)\]]+))"#),
    (NameKind::Device, r#"/dev/serial/by-(?:id|path)/([^\s"',:\]]+)"#),
    (NameKind::Host, r"([A-Za-z0-9-]+\.(?:local|lan|home|internal|localdomain|corp))\b"),
    (NameKind::Address, r"([0-9]{1,3}(?:\.[0-9]{1,3}){3})"),
    (NameKind::Hardware, r"((?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2})"),
    (NameKind::Address6, r"([0-9A-Fa-f]*:[0-9A-Fa-f:]*:[0-9A-Fa-f]*)"),
];

impl NameMasks {
    /// `words` are masked, too.
    pub(super) fn new(words: impl IntoIterator<Item = String>) -> Self {
        let compiled = PATTERNS.into_iter().filter_map(|(kind, text)| {
            let pattern = Regex::new(text);
            debug_assert!(pattern.is_ok(), "{text}");
            Some((kind, pattern.ok()?))
        });
        let mut masks = Self { patterns: compiled.collect(), ..Self::default() };
        for word in words {
            masks.add_word(&word);
        }
        masks
    }

    /// Collects user names from the paths of home directories in a text: they are also masked outside of paths.
    pub(super) fn learn(&mut self, text: &str) {
        for (kind, range) in self.find(text) {
            if kind == NameKind::Home && range.len() <= MAX_WORD_LEN {
                self.add_word(&text[range]);
            }
        }
    }

    fn add_word(&mut self, word: &str) {
        let word = word.to_lowercase();
        if word.len() >= MIN_WORD_LEN && !COMMON_WORDS.contains(&word.as_str()) {
            self.word_lens.insert(word.len());
            self.words.insert(word);
        }
    }

    /// The replacement of an address. Addresses of one /24 network get the same new network and keep their last byte. Loopback,
    /// multicast, 0.0.0.0 and 255.x.x.x are not replaced.
    pub(super) fn mask_address(&mut self, address: Ipv4Addr) -> Ipv4Addr {
        let [a, b, c, last] = address.octets();
        if address.is_loopback() || address.is_unspecified() || address.is_multicast() || a == 255 {
            return address;
        }
        let next = u16::try_from(self.networks.len()).unwrap_or(u16::MAX);
        let number = *self.networks.entry([a, b, c]).or_insert(next);
        // 198.18.0.0/15 is reserved for benchmarks (RFC 2544).
        let [high, low] = (number % 512).to_be_bytes();
        let masked = Ipv4Addr::new(198, 18 + high, low, last);
        self.renamed.insert(address.to_string(), masked.to_string());
        masked
    }

    /// The text with all names replaced.
    pub(super) fn mask_text(&mut self, text: &str) -> String {
        let mut masked = String::with_capacity(text.len());
        let mut copied = 0;
        for (kind, range) in self.find(text) {
            masked.push_str(&text[copied..range.start]);
            masked.push_str(&self.replacement(kind, &text[range.clone()]));
            copied = range.end;
        }
        masked + &text[copied..]
    }

    /// A copy with ASCII names overwritten by 0 and x; `None` if nothing is masked.
    pub(super) fn mask_bytes(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        let to_char = |byte: &u8| match byte {
            b' '..=b'~' => char::from(*byte),
            _ => '\n',
        };
        let text: String = bytes.iter().map(to_char).collect();
        let mut masked = bytes.to_vec();
        for (kind, range) in self.find(&text) {
            if self.replacement(kind, &text[range.clone()]) == text[range.clone()] {
                continue;
            }
            for byte in &mut masked[range] {
                match byte {
                    b'0'..=b'9' => *byte = b'0',
                    byte if byte.is_ascii_alphanumeric() => *byte = b'x',
                    _ => {}
                }
            }
        }
        (masked != bytes).then_some(masked)
    }

    /// The names in a text, in order. Where matches overlap, the first pattern wins.
    fn find(&self, text: &str) -> Vec<(NameKind, Range<usize>)> {
        // Start, kind and end of matches that do not overlap.
        let mut found: BTreeMap<usize, (NameKind, usize)> = BTreeMap::new();
        let mut add = |kind: NameKind, range: Range<usize>| {
            let previous = found.range(..range.end).next_back();
            if previous.is_none_or(|(_, (_, end))| *end <= range.start) {
                found.insert(range.start, (kind, range.end));
            }
        };
        for (kind, pattern) in &self.patterns {
            let mut offset = 0;
            while let Some(captures) = pattern.captures_at(text, offset) {
                let Some(name) = captures.iter().skip(1).flatten().next() else { break };
                // The search continues at the end of the name, not of the match: the slash after the name may start a new path.
                offset = name.end();
                let range = name.start()..name.start() + name.as_str().trim_end().len();
                if is_name(*kind, text, &range) {
                    add(*kind, range);
                }
            }
        }
        // Words are looked up at each start of a word in the text: one search per masked word would be slow with thousands.
        let lower = text.to_ascii_lowercase();
        let mut previous = ' ';
        for (start, c) in lower.char_indices() {
            let is_start = !std::mem::replace(&mut previous, c).is_alphanumeric();
            for len in self.word_lens.iter().filter(|_| is_start) {
                let range = start..start + len;
                let word = lower.get(range.clone());
                if word.is_some_and(|word| self.words.contains(word))
                    && is_delimited(text, &range, char::is_alphanumeric)
                {
                    add(NameKind::Word, range);
                }
            }
        }
        let ranges = found.into_iter();
        ranges.map(|(start, (kind, end))| (kind, start..end)).collect()
    }

    fn replacement(&mut self, kind: NameKind, name: &str) -> String {
        let masked = match kind {
            NameKind::Address => match name.parse() {
                Ok(address) => return self.mask_address(address).to_string(),
                Err(_) => return name.to_owned(),
            },
            NameKind::Home if COMMON_WORDS.contains(&name.to_lowercase().as_str()) => {
                return name.to_owned();
            }
            NameKind::Url if PUBLIC_HOSTS.contains(&name) => return name.to_owned(),
            NameKind::Url => match name.parse() {
                Ok(address) => return self.mask_address(address).to_string(),
                Err(_) => format!("host{}.example", self.number(NameKind::Host, name)),
            },
            NameKind::Mail => format!("somebody{}@host.example", self.number(kind, name)),
            // A user name gets the same replacement in paths and as a word.
            NameKind::Home | NameKind::Word => format!("name{}", self.number(NameKind::Word, name)),
            NameKind::Device => format!("device{}", self.number(kind, name)),
            NameKind::Host => format!("host{}.local", self.number(kind, name)),
            NameKind::Hardware => format!("02:00:00:00:00:{:02x}", self.number(kind, name) % 256),
            NameKind::Address6 => format!("2001:db8::{:x}", self.number(kind, name)),
        };
        self.renamed.insert(name.to_owned(), masked.clone());
        masked
    }

    fn number(&mut self, kind: NameKind, name: &str) -> usize {
        let next = self.numbers.len() + 1;
        *self.numbers.entry((kind, name.to_lowercase())).or_insert(next)
    }
}

fn is_name(kind: NameKind, text: &str, range: &Range<usize>) -> bool {
    match kind {
        NameKind::Address => {
            let is_digit = |c: char| c.is_ascii_digit();
            is_delimited(text, range, is_digit) && text[range.clone()].parse::<Ipv4Addr>().is_ok()
        }
        NameKind::Address6 => {
            let parsed = text[range.clone()].parse::<Ipv6Addr>();
            let is_host = |address: Ipv6Addr| !address.is_loopback() && !address.is_unspecified();
            is_delimited(text, range, char::is_alphanumeric) && parsed.is_ok_and(is_host)
        }
        NameKind::Hardware => is_delimited(text, range, |c| c.is_ascii_hexdigit() || c == ':'),
        _ => true,
    }
}

/// Whether neither neighbour of the range is a character of a name.
fn is_delimited(text: &str, range: &Range<usize>, is_name_char: fn(char) -> bool) -> bool {
    !text[..range.start].ends_with(is_name_char) && !text[range.end..].starts_with(is_name_char)
}

//! Other names in place of those that say whose a recording is. One name always gets the same other one.
use regex_lite::Regex;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::Range;

/// Words that are on every second machine, or in the names of topics.
const USUAL: [&str; 9] = [
    "admin",
    "home",
    "localhost",
    "rfly",
    "rflysim",
    "root",
    "ubuntu",
    "user",
    "users",
];
/// Hosts of URLs that say nothing.
const PUBLIC: [&str; 2] = ["localhost", "app.foxglove.dev"];
/// Shorter words would be found everywhere.
const SHORTEST: usize = 3;
/// Longer ones are hidden in paths only: each length is looked up at each place.
const LONGEST: usize = 64;

/// Renames what it finds in texts, and remembers.
pub(super) struct Masks {
    patterns: Vec<(Kind, Regex)>,
    /// In lower case.
    words: HashSet<String>,
    /// The lengths that they have, in bytes.
    lengths: BTreeSet<usize>,
    /// Number of each network of 256 addresses.
    networks: BTreeMap<[u8; 3], u16>,
    names: BTreeMap<(Kind, String), usize>,
    /// What became of what.
    pub(super) renamed: BTreeMap<String, String>,
}

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Kind {
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
const PATTERNS: [(Kind, &str); 8] = [
    (Kind::Mail, r"([A-Za-z0-9._%+-]+@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,})"),
    (Kind::Url, r#"[A-Za-z][A-Za-z0-9+.-]*://([^/\s"':,\]]+)"#),
    (Kind::Home, r#"[/\\](?:home|Users|media)[/\\]+(?:([^/\\"'\r\n]{1,64})[/\\]|([^/\\\s"',;:)\]]+))"#),
    (Kind::Device, r#"/dev/serial/by-(?:id|path)/([^\s"',:\]]+)"#),
    (Kind::Host, r"([A-Za-z0-9-]+\.(?:local|lan|home|internal|localdomain|corp))\b"),
    (Kind::Address, r"([0-9]{1,3}(?:\.[0-9]{1,3}){3})"),
    (Kind::Hardware, r"((?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2})"),
    (Kind::Address6, r"([0-9A-Fa-f]*:[0-9A-Fa-f:]*:[0-9A-Fa-f]*)"),
];

impl Masks {
    /// Hides these words, too.
    pub(super) fn new(words: impl IntoIterator<Item = String>) -> Self {
        let compiled = PATTERNS.into_iter().filter_map(|(kind, text)| {
            let pattern = Regex::new(text);
            debug_assert!(pattern.is_ok(), "{text}");
            Some((kind, pattern.ok()?))
        });
        let mut masks = Self {
            patterns: compiled.collect(),
            words: HashSet::new(),
            lengths: BTreeSet::new(),
            networks: BTreeMap::new(),
            names: BTreeMap::new(),
            renamed: BTreeMap::new(),
        };
        for word in words {
            masks.hide(&word);
        }
        masks
    }

    /// Notes whose homes a text names: the names are hidden without the path, too.
    pub(super) fn learn(&mut self, text: &str) {
        for (kind, range) in self.find(text) {
            if kind == Kind::Home && range.len() <= LONGEST {
                self.hide(&text[range]);
            }
        }
    }

    fn hide(&mut self, word: &str) {
        let word = word.to_lowercase();
        if word.len() >= SHORTEST && !USUAL.contains(&word.as_str()) {
            self.lengths.insert(word.len());
            self.words.insert(word);
        }
    }

    /// The address in place of another. Networks of 256 stay together, and so does the last number. Addresses that are the same on
    /// all machines stay.
    pub(super) fn address(&mut self, address: Ipv4Addr) -> Ipv4Addr {
        let [a, b, c, last] = address.octets();
        if address.is_loopback() || address.is_unspecified() || address.is_multicast() || a == 255 {
            return address;
        }
        let next = u16::try_from(self.networks.len()).unwrap_or(u16::MAX);
        let number = *self.networks.entry([a, b, c]).or_insert(next);
        // 198.18.0.0/15 is for tests of network devices; nobody has addresses there.
        let [high, low] = (number % 512).to_be_bytes();
        let masked = Ipv4Addr::new(198, 18 + high, low, last);
        self.renamed.insert(address.to_string(), masked.to_string());
        masked
    }

    /// The text with other names.
    pub(super) fn text(&mut self, text: &str) -> String {
        let mut masked = String::with_capacity(text.len());
        let mut done = 0;
        for (kind, range) in self.find(text) {
            masked.push_str(&text[done..range.start]);
            masked.push_str(&self.other(kind, &text[range.clone()]));
            done = range.end;
        }
        masked + &text[done..]
    }

    /// The bytes with as many others in place of names in ASCII; `None` if there are none.
    pub(super) fn same_length(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        let shown = |byte: &u8| match byte {
            b' '..=b'~' => char::from(*byte),
            _ => '\n',
        };
        let text: String = bytes.iter().map(shown).collect();
        let mut masked = bytes.to_vec();
        for (kind, range) in self.find(&text) {
            if self.other(kind, &text[range.clone()]) == text[range.clone()] {
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

    /// Where names are, from the first to the last; the first kind that finds one has it.
    fn find(&self, text: &str) -> Vec<(Kind, Range<usize>)> {
        // By its begin: none overlaps another.
        let mut found: BTreeMap<usize, (Kind, usize)> = BTreeMap::new();
        let mut add = |kind: Kind, range: Range<usize>| {
            let before = found.range(..range.end).next_back();
            if before.is_none_or(|(_, (_, end))| *end <= range.start) {
                found.insert(range.start, (kind, range.end));
            }
        };
        for (kind, pattern) in &self.patterns {
            let mut from = 0;
            while let Some(captures) = pattern.captures_at(text, from) {
                let Some(name) = captures.iter().skip(1).flatten().next() else {
                    break;
                };
                // The slash behind a name may begin the next path, and the space before it is none of the name.
                from = name.end();
                let range = name.start()..name.start() + name.as_str().trim_end().len();
                if counts(*kind, text, &range) {
                    add(*kind, range);
                }
            }
        }
        // There may be as many words as places: each place is looked up.
        let lower = text.to_ascii_lowercase();
        let mut before = ' ';
        for (start, c) in lower.char_indices() {
            let begins = !std::mem::replace(&mut before, c).is_alphanumeric();
            for len in self.lengths.iter().filter(|_| begins) {
                let range = start..start + len;
                let word = lower.get(range.clone());
                if word.is_some_and(|word| self.words.contains(word))
                    && alone(text, &range, char::is_alphanumeric)
                {
                    add(Kind::Word, range);
                }
            }
        }
        let ranges = found.into_iter();
        ranges
            .map(|(start, (kind, end))| (kind, start..end))
            .collect()
    }

    /// The name in place of another.
    fn other(&mut self, kind: Kind, name: &str) -> String {
        let masked = match kind {
            Kind::Address => match name.parse() {
                Ok(address) => return self.address(address).to_string(),
                Err(_) => return name.to_owned(),
            },
            Kind::Home if USUAL.contains(&name.to_lowercase().as_str()) => return name.to_owned(),
            Kind::Url if PUBLIC.contains(&name) => return name.to_owned(),
            Kind::Url => match name.parse() {
                Ok(address) => return self.address(address).to_string(),
                Err(_) => format!("host{}.example", self.number(Kind::Host, name)),
            },
            Kind::Mail => format!("somebody{}@host.example", self.number(kind, name)),
            // A user is the same with and without a path.
            Kind::Home | Kind::Word => format!("name{}", self.number(Kind::Word, name)),
            Kind::Device => format!("device{}", self.number(kind, name)),
            Kind::Host => format!("host{}.local", self.number(kind, name)),
            Kind::Hardware => format!("02:00:00:00:00:{:02x}", self.number(kind, name) % 256),
            Kind::Address6 => format!("2001:db8::{:x}", self.number(kind, name)),
        };
        self.renamed.insert(name.to_owned(), masked.clone());
        masked
    }

    fn number(&mut self, kind: Kind, name: &str) -> usize {
        let next = self.names.len() + 1;
        *self
            .names
            .entry((kind, name.to_lowercase()))
            .or_insert(next)
    }
}

/// Whether what looks like a name is one.
fn counts(kind: Kind, text: &str, range: &Range<usize>) -> bool {
    match kind {
        Kind::Address => {
            let number = |c: char| c.is_ascii_digit();
            alone(text, range, number) && text[range.clone()].parse::<Ipv4Addr>().is_ok()
        }
        Kind::Address6 => {
            let parsed = text[range.clone()].parse::<Ipv6Addr>();
            let own = |address: Ipv6Addr| !address.is_loopback() && !address.is_unspecified();
            alone(text, range, char::is_alphanumeric) && parsed.is_ok_and(own)
        }
        Kind::Hardware => alone(text, range, |c| c.is_ascii_hexdigit() || c == ':'),
        _ => true,
    }
}

/// Whether neither neighbour is of the same kind.
fn alone(text: &str, range: &Range<usize>, same: fn(char) -> bool) -> bool {
    !text[..range.start].ends_with(same) && !text[range.end..].starts_with(same)
}

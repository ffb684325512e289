use rfly_bridge::transport::{SharedBlock, ShmError};

struct Name(String);

impl Name {
    fn new(what: &str) -> Self {
        Self(format!("rfly_bridge_test_{what}_{}", std::process::id()))
    }

    fn path(&self) -> String {
        format!("/dev/shm/{}", self.0)
    }
}

impl Drop for Name {
    fn drop(&mut self) {
        let _gone_already = std::fs::remove_file(self.path());
    }
}

#[test]
fn two_sides_hand_a_block_over_with_its_flag() {
    let name = Name::new("handover");
    let writer = SharedBlock::create(&name.0, 64).unwrap();
    let reader = SharedBlock::open(&name.0, 64).unwrap();
    assert_eq!(writer.copy_in(9, b"pixels"), 6);
    writer.set_flag(2);
    assert!(reader.swap_flag(2, 3));
    assert!(!reader.swap_flag(2, 3), "the block is taken only once");
    let mut copy = [0; 6];
    assert_eq!(reader.copy_out(9, &mut copy), 6);
    assert_eq!(&copy, b"pixels");
    assert!(reader.lend(9, |bytes| bytes.starts_with(b"pixels") && bytes.len() == 55));
    reader.set_flag(4);
    assert_eq!(writer.flag(), 4);
    // Independent of our own mapping: the file has the bytes where the protocol says.
    let file = std::fs::read(name.path()).unwrap();
    assert_eq!(file[0], 4);
    assert_eq!(&file[9..15], b"pixels");
}

#[test]
fn copies_stop_at_the_end_of_the_block() {
    let name = Name::new("end");
    let block = SharedBlock::create(&name.0, 16).unwrap();
    let mut large = [0xa5; 32];
    assert_eq!(block.copy_out(10, &mut large), 6);
    assert_eq!(large[6], 0xa5);
    assert_eq!(block.copy_out(99, &mut large), 0);
    assert_eq!(block.copy_in(15, &[1, 2, 3]), 1);
    assert_eq!(block.lend(99, <[u8]>::len), 0);
}

#[test]
fn a_block_that_is_too_small_or_missing_says_so_with_its_path() {
    let name = Name::new("small");
    let error = SharedBlock::open(&name.0, 10).unwrap_err();
    assert!(matches!(error, ShmError::Io { .. }));
    assert!(error.to_string().contains(&name.0));
    std::fs::write(name.path(), [0; 9]).unwrap();
    assert!(matches!(
        SharedBlock::open(&name.0, 10),
        Err(ShmError::TooSmall {
            expected: 10,
            found: 9,
            ..
        })
    ));
}

#[test]
fn a_recreated_block_is_noticed() {
    let name = Name::new("recreated");
    let old = SharedBlock::create(&name.0, 16).unwrap();
    assert!(old.is_current());
    std::fs::remove_file(name.path()).unwrap();
    assert!(!old.is_current());
    // The old file still exists through its mapping, so that the new one has another inode.
    let new = SharedBlock::create(&name.0, 16).unwrap();
    assert!(!old.is_current());
    assert!(new.is_current());
}

use libc::SIGBUS;
use rfly_bridge::transport::{SharedBlock, ShmError, WatchedBlock};
use std::fs::OpenOptions;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::Barrier;

struct Name(String);

impl Name {
    fn new(what: &str) -> Self {
        Self(format!("rfly_bridge_test_{what}_{}", std::process::id()))
    }

    fn path(&self) -> String {
        format!("/dev/shm/{}", self.0)
    }

    fn truncate(&self, len: u64) {
        let file = OpenOptions::new().write(true).open(self.path()).unwrap();
        file.set_len(len).unwrap();
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
    assert_eq!(reader.lend(9, |bytes| bytes.len()), 55);
    reader.set_flag(4);
    assert_eq!(writer.flag(), 4);
    // Independent of our own mapping: the file has the bytes where the protocol says.
    let file = std::fs::read(name.path()).unwrap();
    assert_eq!(file[0], 4);
    assert_eq!(&file[9..15], b"pixels");
}

#[test]
fn a_block_can_be_watched_by_who_may_not_write_it() {
    let name = Name::new("watched");
    let writer = SharedBlock::create(&name.0, 64).unwrap();
    let watched = WatchedBlock::open(&name.0, 64..=64).unwrap();
    writer.copy_in(9, b"pixels");
    writer.set_flag(2);
    assert_eq!((watched.flag(), watched.len()), (2, 64));
    let mut copy = [0; 6];
    assert_eq!(watched.copy_out(9, &mut copy), 6);
    assert_eq!(&copy, b"pixels");
    assert!(watched.is_current());
    // Cut off while it is watched: zeros, and no signal that ends the process.
    name.truncate(0);
    assert_eq!(watched.flag(), 0);
    assert!(!watched.is_current());
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
    assert_eq!(block.lend(99, |bytes| bytes.len()), 0);
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
        Err(ShmError::TooSmall { expected: 10, found: 9, .. })
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

#[test]
fn a_block_that_there_is_no_memory_for_is_refused_and_leaves_nothing() {
    let name = Name::new("too_large");
    // More than any machine's /dev/shm: a file of that length could be made, and would end whoever writes into it.
    let error = SharedBlock::create(&name.0, 1 << 44).unwrap_err();
    assert!(
        matches!(&error, ShmError::Io { source, .. } if source.kind() == std::io::ErrorKind::StorageFull),
        "{error}"
    );
    assert!(!std::path::Path::new(&name.path()).exists());
    // Here one is replaced that others have mapped: it stays as it is.
    let old = SharedBlock::create(&name.0, 64).unwrap();
    old.set_flag(2);
    assert!(SharedBlock::create(&name.0, 1 << 44).is_err());
    assert!(old.is_current() && old.flag() == 2);
}

#[test]
fn a_block_that_is_cut_off_is_zeros_and_lost_and_ends_nothing() {
    const LEN: usize = 3 << 20;
    let name = Name::new("cut_off");
    let writer = SharedBlock::create(&name.0, LEN).unwrap();
    let reader = SharedBlock::open(&name.0, LEN).unwrap();
    writer.copy_in(0, &vec![7; LEN]);
    name.truncate(4096);
    assert!(!reader.is_lost(), "nobody has touched what is missing");
    assert!(!reader.is_current());
    assert_eq!(reader.flag(), 7, "the first page is still there");
    let mut copy = vec![1; LEN - 4096];
    assert_eq!(reader.copy_out(4096, &mut copy), copy.len());
    assert!(copy.iter().all(|byte| *byte == 0));
    assert!(reader.is_lost() && !reader.is_current());
    // From now on memory of its own: what it says stays said, and nobody else sees it.
    assert_eq!(reader.flag(), 0);
    assert!(!reader.swap_flag(2, 3));
    reader.set_flag(9);
    assert_eq!(std::fs::read(name.path()).unwrap()[0], 7);
    // The writer survives it too, and the whole file may go.
    name.truncate(0);
    assert_eq!(writer.copy_in(100, b"pixels"), 6);
    assert!(writer.is_lost());
    let again = SharedBlock::create(&name.0, LEN).unwrap();
    assert!(again.is_current() && again.flag() == 0);
}

#[test]
fn blocks_are_cut_off_on_many_threads_while_others_are_read() {
    const LEN: usize = 1 << 20;
    let name = |i| Name::new(&format!("threads{i}"));
    let whole = name(99);
    let reader = SharedBlock::create(&whole.0, LEN).unwrap();
    reader.copy_in(0, &vec![5; LEN]);
    let all_mapped = Barrier::new(4);
    std::thread::scope(|scope| {
        for i in 0..4 {
            let (all_mapped, whole) = (&all_mapped, &whole);
            scope.spawn(move || {
                let name = name(i);
                let block = SharedBlock::create(&name.0, LEN).unwrap();
                let neighbour = SharedBlock::open(&whole.0, LEN).unwrap();
                all_mapped.wait();
                name.truncate(0);
                let mut copy = vec![1; LEN];
                // One inside the other: each access knows its own block.
                neighbour.lend(0, |_| {
                    assert_eq!(block.copy_out(0, &mut copy), LEN);
                });
                assert!(block.is_lost() && copy.iter().all(|byte| *byte == 0));
                assert_eq!(neighbour.copy_out(0, &mut copy), LEN);
                assert!(!neighbour.is_lost() && copy.iter().all(|byte| *byte == 5));
            });
        }
    });
    assert!(!reader.is_lost());
}

/// Runs the test of this name again, alone, in a process of its own, and says which signal ended it.
fn signal_of_child(test: &str) -> Option<i32> {
    let mut child = Command::new(std::env::current_exe().unwrap());
    let child = child.args([test, "--exact", "--test-threads=1"]);
    child.env("RFLY_TEST_CHILD", "1").output().unwrap().status.signal()
}

fn is_child() -> bool {
    std::env::var_os("RFLY_TEST_CHILD").is_some()
}

#[test]
fn a_bus_error_that_somebody_sends_ends_the_process_as_ever() {
    if is_child() {
        let name = Name::new("sent");
        let _block = SharedBlock::create(&name.0, 16).unwrap();
        drop(std::fs::remove_file(name.path()));
        let own = std::process::id().to_string();
        Command::new("kill").args(["-BUS", &own]).status().unwrap();
        return;
    }
    let test = "transport::shm::a_bus_error_that_somebody_sends_ends_the_process_as_ever";
    assert_eq!(signal_of_child(test), Some(SIGBUS));
}

#[test]
fn a_bus_error_in_memory_of_others_ends_the_process_as_ever() {
    if is_child() {
        let (own, other) = (Name::new("own"), Name::new("other"));
        let block = SharedBlock::create(&own.0, 16).unwrap();
        std::fs::write(other.path(), [1; 4096]).unwrap();
        let file = OpenOptions::new().read(true).write(true).open(other.path()).unwrap();
        let map = memmap2::MmapRaw::map_raw(&file).unwrap();
        file.set_len(0).unwrap();
        for name in [&own, &other] {
            std::fs::remove_file(name.path()).unwrap();
        }
        block.lend(0, |_| {
            #[expect(unsafe_code, reason = "the fault is what is tested")]
            // SAFETY: within the mapping, which faults.
            let byte = unsafe { map.as_ptr().read_volatile() };
            panic!("read {byte} out of nothing");
        });
    }
    let test = "transport::shm::a_bus_error_in_memory_of_others_ends_the_process_as_ever";
    assert_eq!(signal_of_child(test), Some(SIGBUS));
}

#[test]
fn what_is_no_plain_file_is_refused_at_once() {
    let (name, target) = (Name::new("pipe"), Name::new("target"));
    Command::new("mkfifo").arg(name.path()).status().unwrap();
    assert!(matches!(SharedBlock::open(&name.0, 10), Err(ShmError::NotAFile { .. })));
    std::fs::remove_file(name.path()).unwrap();
    std::fs::write(target.path(), [2; 100]).unwrap();
    std::os::unix::fs::symlink(target.path(), name.path()).unwrap();
    assert!(matches!(SharedBlock::open(&name.0, 10), Err(ShmError::Io { .. })));
}

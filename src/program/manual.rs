//! Manual pages and shell completions for packages, generated from the arguments of a program.
use clap::Command;
use clap_complete::Shell;
use std::{io, path::Path};

/// The completions of `shell` for `command`, as the shell's own script.
pub fn completions(mut command: Command, shell: Shell) -> Vec<u8> {
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, name, &mut script);
    script
}

/// Writes `NAME.1`, and `NAME-SUBCOMMAND.1` for each subcommand, into `dir`.
pub fn man_pages(command: Command, dir: &Path) -> io::Result<()> {
    std::fs::create_dir_all(dir)?;
    clap_mangen::generate_to(command, dir)
}

/// The manual page of a program without subcommands.
pub fn man_page(command: Command) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    Ok(page)
}

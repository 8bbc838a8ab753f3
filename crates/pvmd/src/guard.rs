//! The daemon speaks to the network, so it gives up what it does not need, where the kernel lets
//! it: seccomp takes away calls, Landlock takes away files. Where it does not, the daemon runs on
//! without and says so in `pvm status`.
//!
//! Both hold for the thread that calls and for those that it starts. What is left out is the
//! starter ([`crate::starter`]), which hears nothing from the network.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod calls;
mod files;

use std::path::Path;

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod calls {
    //! There is no filter for this processor.

    pub(super) fn restrict() -> Result<(), String> {
        Err("no filter for this processor".to_owned())
    }
}

/// Gives up what the daemon does not need. Returns what holds from here on, in words.
pub(crate) fn confine(folder: &Path) -> String {
    if !crate::starter::is_there() {
        return "none: no thread for programs".to_owned();
    }
    // Landlock first: the filter would not be in its way, but it is the larger step.
    let files = files::restrict(folder);
    let calls = calls::restrict();
    match (files, calls) {
        (Ok(()), Ok(())) => "landlock, seccomp".to_owned(),
        (Ok(()), Err(why)) => format!("landlock (no seccomp: {why})"),
        (Err(why), Ok(())) => format!("seccomp (no landlock: {why})"),
        (Err(files), Err(calls)) => format!("none (no landlock: {files}; no seccomp: {calls})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In a thread of its own: what it gives up is gone for good.
    #[test]
    fn a_confined_thread_starts_no_program_and_reads_no_home() {
        let folder = std::env::temp_dir().join(format!("pvmd-guard-{}", std::process::id()));
        let (ours, home) = (folder.join("ours"), folder.join("home"));
        std::fs::create_dir_all(&ours).unwrap();
        std::fs::create_dir_all(&home).unwrap();
        std::fs::write(home.join("key"), "secret").unwrap();
        let agent = folder.join("agent");
        let keeper = std::os::unix::net::UnixListener::bind(&agent).unwrap();
        let inside = std::thread::spawn(move || {
            let (files, calls) = (files::restrict(&ours), calls::restrict());
            // Threads and files of its own are what it lives of.
            assert!(std::thread::spawn(|| true).join().unwrap());
            std::fs::write(ours.join("own"), "x").unwrap();
            std::fs::remove_file(ours.join("own")).unwrap();
            assert!(std::fs::read("/etc/passwd").is_ok());
            let socket = std::os::unix::net::UnixDatagram::bind(ours.join("bell"));
            assert!(socket.is_ok());
            if files.is_ok() {
                assert!(std::fs::read(home.join("key")).is_err());
                assert!(std::fs::write(home.join("key"), "x").is_err());
            }
            if calls.is_ok() {
                assert!(std::process::Command::new("/bin/true").status().is_err());
                assert_eq!(crate::sys::newer_clone().raw_os_error(), Some(libc::ENOSYS));
                // A keeper of keys listens at such a socket.
                let agent = std::os::unix::net::UnixStream::connect(&agent);
                let refused = std::io::ErrorKind::PermissionDenied;
                assert_eq!(agent.map_err(|error| error.kind()).err(), Some(refused));
                assert!(std::net::TcpListener::bind("127.0.0.1:0").is_ok());
            }
            (files, calls)
        });
        let (files, calls) = inside.join().unwrap();
        eprintln!("landlock {files:?}, seccomp {calls:?}");
        drop(keeper);
        // This thread is as free as before.
        assert!(std::fs::read(folder.join("home/key")).is_ok());
        assert!(std::process::Command::new("/bin/true").status().unwrap().success());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}

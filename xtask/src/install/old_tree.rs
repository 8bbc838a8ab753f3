//! PVM_ROOT as the makefiles, configure scripts and job scripts of old programs know it.
//!
//! `-L$PVM_ROOT/lib/$PVM_ARCH`, `include $(PVM_ROOT)/conf/$(PVM_ARCH).def`, `$PVM_ROOT/lib/aimk`
//! and `$PVM_ROOT/lib/pvmgetarch` are what they say; PVM's `aimk(1)` and `pvmgetarch(1)` tell what
//! is expected. All but these two scripts and the definitions are links into the tree as it is.

use super::{FILE, Layout, PROGRAM, copy, files_in, relink};
use crate::outside;
use std::fs;
use std::path::Path;

impl Layout<'_> {
    /// After programs and libraries.
    pub(super) fn old_tree(&self) -> Result<(), String> {
        let from = self.root.join("xtask/pvm-root");
        for script in ["aimk", "pvmgetarch"] {
            copy(&from.join(script), &self.prefix.join("lib").join(script), PROGRAM)?;
            self.link(&format!("../lib/{script}"), &format!("bin/{script}"))?;
        }
        let names_arch = self.prefix.join("lib/pvmgetarch");
        let arch = outside::output(self.root, "sh", &[&names_arch.to_string_lossy()])?;
        let arch = arch.trim();
        copy(&from.join("arch.def"), &self.prefix.join(format!("conf/{arch}.def")), FILE)?;
        for name in ["pvm", "pvmd", "pvmgs"] {
            self.link(&format!("../bin/{name}"), &format!("lib/{name}"))?;
            self.link(&format!("../../bin/{name}"), &format!("lib/{arch}/{name}"))?;
        }
        self.link("../../bin/pvmd", &format!("lib/{arch}/pvmd3"))?;
        self.link("../pvmgetarch", &format!("lib/{arch}/pvmgetarch"))?;
        for library in files_in(&self.prefix.join("lib"))? {
            let name = library.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.starts_with("lib") {
                self.link(&format!("../{name}"), &format!("lib/{arch}/{name}"))?;
            }
        }
        // Where users' programs are found by name.
        let programs = self.prefix.join("bin").join(arch);
        fs::create_dir_all(&programs).map_err(|e| format!("{}: {e}", programs.display()))
    }

    fn link(&self, target: &str, name: &str) -> Result<(), String> {
        relink(Path::new(target), &self.prefix.join(name))
    }
}

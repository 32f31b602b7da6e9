//! Embeds the packs anew when one is added or removed; the macro that embeds them sees only changes
//! of files that were there.

fn main() {
    println!("cargo::rerun-if-changed=policies");
}

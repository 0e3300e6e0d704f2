//! The modules of a crate, parsed, and what the names in them stand for.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use syn::{Attribute, Item, UseTree};

/// A module's path from the crate's root, for example `["io", "source"]`.
pub(crate) type ModulePath = Vec<String>;

pub(crate) struct CrateSource {
    modules: BTreeMap<ModulePath, Vec<Item>>,
}

impl CrateSource {
    pub(crate) fn read(lib: &Path) -> Self {
        let mut source = Self { modules: BTreeMap::new() };
        source.add(Vec::new(), lib);
        source
    }

    /// Parses a file and the files of its modules, other than tests.
    fn add(&mut self, module: ModulePath, file: &Path) {
        let items = syn::parse_file(&fs::read_to_string(file).unwrap()).unwrap().items;
        let top = file.ends_with("lib.rs") || file.ends_with("mod.rs");
        let directory = if top { file.parent().unwrap().to_owned() } else { file.with_extension("") };
        for item in &items {
            let Item::Mod(child) = item else { continue };
            if child.content.is_none() && !has(&child.attrs, "cfg", "test") {
                let flat = directory.join(format!("{}.rs", child.ident));
                let nested = directory.join(child.ident.to_string()).join("mod.rs");
                let path = [module.clone(), vec![child.ident.to_string()]].concat();
                self.add(path, if flat.is_file() { &flat } else { &nested });
            }
        }
        self.modules.insert(module, items);
    }

    pub(crate) fn modules(&self) -> impl Iterator<Item = (&ModulePath, &Vec<Item>)> {
        self.modules.iter()
    }

    pub(crate) fn items(&self, module: &[String]) -> &[Item] {
        self.modules.get(module).map_or(&[], Vec::as_slice)
    }

    /// Where the item that a module calls `name` is defined: the module and its name there.
    pub(crate) fn resolve(&self, module: &[String], name: &str) -> Option<(ModulePath, String)> {
        if self.items(module).iter().any(|item| name_of(item).as_deref() == Some(name)) {
            return Some((module.to_vec(), name.to_owned()));
        }
        let (path, original) = self.imports(module).into_iter().find(|import| import.alias == name).map(split)?;
        self.resolve(&self.absolute(module, &path)?, &original)
    }

    /// A path in a `use` of a module, from the crate's root.
    pub(crate) fn absolute(&self, module: &[String], path: &[String]) -> Option<ModulePath> {
        match path.first().map(String::as_str) {
            None => Some(module.to_vec()),
            Some("crate") => Some(path[1..].to_vec()),
            Some("self") => Some([module, &path[1..]].concat()),
            Some("super") => self.absolute(&module[..module.len() - 1], &path[1..]),
            Some(_) => Some([module, path].concat()).filter(|path| self.modules.contains_key(path)),
        }
    }

    fn imports(&self, module: &[String]) -> Vec<Import> {
        let mut imports = Vec::new();
        for item in self.items(module) {
            if let Item::Use(item) = item {
                leaves(&item.tree, &mut Vec::new(), &mut imports);
            }
        }
        imports
    }
}

/// One name that a `use` brings in.
pub(crate) struct Import {
    pub(crate) path: Vec<String>,
    pub(crate) alias: String,
}

/// The module of an imported item, and its name there.
pub(crate) fn split(mut import: Import) -> (Vec<String>, String) {
    let name = import.path.pop().unwrap();
    (import.path, name)
}

/// The names that a `use` tree brings in.
pub(crate) fn leaves(tree: &UseTree, before: &mut Vec<String>, into: &mut Vec<Import>) {
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            leaves(&path.tree, before, into);
            before.pop();
        }
        UseTree::Name(name) => {
            let path = [before.clone(), vec![name.ident.to_string()]].concat();
            into.push(Import { path, alias: name.ident.to_string() });
        }
        UseTree::Rename(name) => {
            let path = [before.clone(), vec![name.ident.to_string()]].concat();
            into.push(Import { path, alias: name.rename.to_string() });
        }
        UseTree::Group(group) => group.items.iter().for_each(|tree| leaves(tree, before, into)),
        UseTree::Glob(_) => {}
    }
}

pub(crate) fn name_of(item: &Item) -> Option<String> {
    Some(match item {
        Item::Const(item) => item.ident.to_string(),
        Item::Enum(item) => item.ident.to_string(),
        Item::Fn(item) => item.sig.ident.to_string(),
        Item::Struct(item) => item.ident.to_string(),
        Item::Trait(item) => item.ident.to_string(),
        Item::Type(item) => item.ident.to_string(),
        _ => return None,
    })
}

/// Whether there is an attribute such as `#[doc(hidden)]`.
pub(crate) fn has(attributes: &[Attribute], name: &str, word: &str) -> bool {
    let found = |attribute: &Attribute| match &attribute.meta {
        syn::Meta::Path(path) => word.is_empty() && path.is_ident(name),
        syn::Meta::List(list) => list.path.is_ident(name) && list.tokens.to_string() == word,
        syn::Meta::NameValue(_) => false,
    };
    attributes.iter().any(found)
}

//! The public items of a crate as text: a line for each, what belongs to it indented below.

use quote::ToTokens;
use syn::{Attribute, Fields, ImplItem, Item, TraitItem, Type, Visibility};

use crate::crate_source::{CrateSource, has, leaves, name_of, split};

/// Macros that implement traits for types of other crates. What a macro made for our own types would
/// not be listed.
const FOREIGN: [&str; 2] = ["element", "real"];

/// The text of all public modules.
pub(crate) fn of(source: &CrateSource) -> String {
    for (place, items) in source.modules() {
        for item in items {
            if let Item::Macro(used) = item
                && used.ident.is_none()
            {
                let listed = FOREIGN.iter().any(|name| used.mac.path.is_ident(name));
                assert!(listed, "write out what `{}!` makes in {place:?}", text(&used.mac.path));
            }
        }
    }
    let mut out = String::from(
        "The public items of the library `eigenspace`, with all features. Made by a test:\n\
         EIGENSPACE_WRITE_API=1 cargo test -p xtask --test api\n",
    );
    module(source, &[], &mut out);
    out
}

fn module(source: &CrateSource, path: &[String], out: &mut String) {
    let mut entries = Vec::new();
    let mut children = Vec::new();
    for item in source.items(path) {
        match item {
            Item::Mod(child) if is_public(&child.vis) && !has(&child.attrs, "doc", "hidden") => {
                children.push([path, &[child.ident.to_string()]].concat());
            }
            Item::Use(import) if is_public(&import.vis) => {
                let mut names = Vec::new();
                leaves(&import.tree, &mut Vec::new(), &mut names);
                for name in names {
                    let alias = name.alias.clone();
                    let (from, original) = split(name);
                    let found = source.absolute(path, &from).and_then(|from| source.resolve(&from, &original));
                    let (home, original) = found.unwrap_or_else(|| panic!("`{alias}` in {path:?} leads nowhere"));
                    entries.push(entry(source, &home, &original));
                }
            }
            item => {
                entries.extend(name_of(item).filter(|_| is_public_item(item)).map(|name| entry(source, path, &name)))
            }
        }
    }
    entries.sort();
    out.push_str(&format!("\n# {}\n", [&["eigenspace".to_owned()], path].concat().join("::")));
    entries.iter().for_each(|entry| out.push_str(entry));
    children.iter().for_each(|child| module(source, child, out));
}

/// An item and everything that belongs to it.
fn entry(source: &CrateSource, home: &[String], name: &str) -> String {
    let item = source.items(home).iter().find(|item| name_of(item).as_deref() == Some(name)).unwrap();
    let mut lines = Vec::new();
    let head = match item {
        Item::Const(item) => format!("const {}: {}", item.ident, text(&item.ty)),
        Item::Fn(item) => text(&item.sig),
        Item::Type(item) => format!("type {} = {}", item.ident, text(&item.ty)),
        Item::Struct(item) => {
            fields(&item.fields, &mut lines);
            format!("struct {}{}{}", item.ident, text(&item.generics), marks(&item.attrs))
        }
        Item::Enum(item) => {
            for variant in &item.variants {
                let named = |field: &syn::Field| match &field.ident {
                    Some(name) => format!("{name}: {}", text(&field.ty)),
                    None => text(&field.ty),
                };
                let parts: Vec<String> = variant.fields.iter().map(named).collect();
                let parts = parts.join(", ");
                lines.push(match &variant.fields {
                    Fields::Named(_) => format!("{} {{ {parts} }}{}", variant.ident, marks(&variant.attrs)),
                    Fields::Unnamed(_) => format!("{}({parts})", variant.ident),
                    Fields::Unit => variant.ident.to_string(),
                });
            }
            format!("enum {}{}{}", item.ident, text(&item.generics), marks(&item.attrs))
        }
        Item::Trait(item) => {
            for item in &item.items {
                lines.push(match item {
                    TraitItem::Fn(item) if has(&item.attrs, "doc", "hidden") => continue,
                    TraitItem::Fn(item) => text(&item.sig),
                    TraitItem::Type(item) => format!("type {}: {}", item.ident, text(&item.bounds)),
                    other => text(other),
                });
            }
            format!("trait {}: {}", item.ident, text(&item.supertraits))
        }
        _ => unreachable!("items with names only"),
    };
    let (mut methods, mut traits) = (Vec::new(), Vec::new());
    for (place, items) in source.modules() {
        for block in items.iter().filter_map(|item| if let Item::Impl(block) = item { Some(block) } else { None }) {
            let own = type_name(&block.self_ty).and_then(|name| source.resolve(place, &name));
            if own.is_none_or(|own| own != (home.to_vec(), name.to_owned())) {
                continue;
            }
            if let Some((_, of, _)) = &block.trait_ {
                traits.push(format!("impl {}", text(of)));
                continue;
            }
            methods.extend(block.items.iter().filter_map(|item| match item {
                ImplItem::Fn(item) if is_public(&item.vis) && !has(&item.attrs, "doc", "hidden") => {
                    Some(text(&item.sig))
                }
                ImplItem::Const(item) if is_public(&item.vis) => {
                    Some(format!("const {}: {}", item.ident, text(&item.ty)))
                }
                _ => None,
            }));
        }
    }
    methods.sort();
    traits.sort();
    lines.extend(methods);
    lines.extend(traits);
    lines.iter().fold(format!("{head}\n"), |all, line| format!("{all}    {line}\n"))
}

fn fields(fields: &Fields, into: &mut Vec<String>) {
    for field in fields.iter().filter(|field| is_public(&field.vis)) {
        into.push(format!("{}: {}", field.ident.as_ref().unwrap(), text(&field.ty)));
    }
}

/// Derived traits, and whether more may be added.
fn marks(attributes: &[Attribute]) -> String {
    let mut derived = Vec::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("derive")) {
        let syn::Meta::List(list) = &attribute.meta else { continue };
        derived.extend(list.tokens.to_string().split(',').map(|name| name.replace(' ', "")));
    }
    let derived = if derived.is_empty() { String::new() } else { format!(" [{}]", derived.join(", ")) };
    let open = if has(attributes, "non_exhaustive", "") { " non_exhaustive" } else { "" };
    format!("{open}{derived}")
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn is_public_item(item: &Item) -> bool {
    match item {
        Item::Const(item) => is_public(&item.vis),
        Item::Enum(item) => is_public(&item.vis),
        Item::Fn(item) => is_public(&item.vis),
        Item::Struct(item) => is_public(&item.vis),
        Item::Trait(item) => is_public(&item.vis),
        Item::Type(item) => is_public(&item.vis),
        _ => false,
    }
}

/// The last name of a type's path.
fn type_name(of: &Type) -> Option<String> {
    match of {
        Type::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
        _ => None,
    }
}

/// Tokens as rustfmt would write them on one line, nearly.
fn text(tokens: &impl ToTokens) -> String {
    let tight = [
        (" :: ", "::"),
        (" < ", "<"),
        ("< ", "<"),
        (" >", ">"),
        (" ,", ","),
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
        ("& ", "&"),
        (" :", ":"),
        (" ;", ";"),
        ("[ ", "["),
        (" ]", "]"),
        ("->(", "-> ("),
        (":(", ": ("),
        (",)", ")"),
        (",(", ", ("),
        ("=(", "= ("),
    ];
    tight.iter().fold(tokens.to_token_stream().to_string(), |text, (from, to)| text.replace(from, to))
}

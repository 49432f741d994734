// SPDX-License-Identifier: MIT
#include "file_types.hpp"

namespace paddock::cli {
namespace {

struct file_type {
  std::string_view name;
  std::string_view glob;
};

constexpr file_type types[] = {
    {"c", "*.{c,h}"},
    {"cpp", "*.{cpp,cc,cxx,c++,hpp,hh,hxx,h++,h,inl,ipp,tpp}"},
    {"css", "*.{css,scss,sass,less}"},
    {"go", "*.go"},
    {"html", "*.{html,htm,ejs}"},
    {"java", "*.{java,jsp}"},
    {"js", "*.{js,jsx,mjs,cjs,vue}"},
    {"json", "*.json"},
    {"make", "{[Mm]akefile*,GNUmakefile,*.mk,*.mak}"},
    {"md", "*.{md,markdown,mdx,mkd}"},
    {"php", "*.php"},
    {"py", "*.{py,pyi}"},
    {"ruby", "{*.rb,Gemfile,Rakefile,*.gemspec}"},
    {"rust", "*.rs"},
    {"sh", "{*.sh,*.bash,*.zsh,.bashrc,.profile}"},
    {"sql", "*.sql"},
    {"toml", "{*.toml,Cargo.lock}"},
    {"ts", "*.{ts,tsx,mts,cts}"},
    {"txt", "*.txt"},
    {"xml", "*.{xml,xsd,xsl,svg}"},
    {"yaml", "*.{yaml,yml}"},
};

} // namespace

std::optional<std::string_view> glob_of_type(std::string_view name) {
  for (const file_type& each : types)
    if (each.name == name) return each.glob;
  return std::nullopt;
}

std::string all_types() {
  std::string all;
  for (const file_type& each : types)
    (all += all.empty() ? "" : ", ") += each.name;
  return all;
}

} // namespace paddock::cli

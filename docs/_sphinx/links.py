"""Names of the library, where a page shows them as code, lead to the reference.

The pages are plain Markdown, which reads well anywhere; so they write `GaussianMixture` and no
directive, and the link is made here.
"""

import re

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.transforms import SphinxTransform

# A name, or a call of what it names: `dgme.load("model.dgme")`.
CODE = re.compile(r"([A-Za-z_][\w.]*\w)(\(.*\))?")


class NamesLead(SphinxTransform):
    default_priority = 400

    def apply(self) -> None:
        if self.env.docname.startswith("api/"):
            return  # docstrings have references of their own
        for literal in list(self.document.findall(nodes.literal)):
            code = CODE.fullmatch(literal.astext())
            if code and not isinstance(literal.parent, nodes.reference | nodes.title):
                name, call = code.groups()
                reference = pending_xref("", refdomain="py", reftype="code", reftarget=name)
                reference["distinct"] = "." in name or call is not None
                literal.replace_self(reference)
                reference += literal


def documented(name: str, distinct: bool, known) -> str | None:
    """What a name means; of a distinct one the end is enough, if there is one with that end."""
    if f"dgme.{name}" in known or name in known:
        return name if name in known else f"dgme.{name}"
    ends = [full for full in known if distinct and full.endswith(f".{name}")]
    return ends[0] if len(ends) == 1 else None


def resolve(app, env, node: pending_xref, content) -> nodes.Node | None:
    """A link to the object of that name, or the code as it stands."""
    if node["reftype"] != "code":
        return None
    known = env.domains.python_domain.objects
    name = documented(node["reftarget"], node["distinct"], known)
    if name is None:
        return content
    uri = app.builder.get_relative_uri(node["refdoc"], known[name].docname)
    uri += f"#{known[name].node_id}"
    return nodes.reference("", "", content, internal=True, refuri=uri, reftitle=name)


def setup(app) -> dict[str, bool]:
    app.add_transform(NamesLead)
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

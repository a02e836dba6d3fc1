"""Names of the library, where a page shows them as code, lead to the reference.

The pages are plain Markdown, which reads well anywhere; so they write `GaussianMixture` and no
directive, and the link is made here.
"""

import re

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.transforms import SphinxTransform

# A name, or a call of which the name comes first: `dgme.load("model.dgme")`, `law.crps(y)`.
NAME = re.compile(r"([A-Za-z_][\w.]*\w)(\(.*\))?")


class NamesLead(SphinxTransform):
    default_priority = 400

    def apply(self) -> None:
        if self.env.docname.startswith("api/"):
            return  # docstrings have references of their own
        for literal in list(self.document.findall(nodes.literal)):
            found = NAME.fullmatch(literal.astext())
            if found and not isinstance(literal.parent, nodes.reference | nodes.title):
                reference = pending_xref("", refdomain="py", reftype="name", reftarget=found[1])
                literal.replace_self(reference)
                reference += literal


def resolve(app, env, node: pending_xref, content) -> nodes.Node | None:
    """A link to the object of that name, or the code as it stands."""
    if node["reftype"] != "name":
        return None
    documented = env.domains.python_domain.objects
    name = node["reftarget"]
    for candidate in (name, f"dgme.{name}"):
        if candidate in documented:
            entry = documented[candidate]
            uri = app.builder.get_relative_uri(node["refdoc"], entry.docname)
            return nodes.reference(
                "", "", content, internal=True, refuri=f"{uri}#{entry.node_id}", reftitle=candidate
            )
    return content


def setup(app) -> dict[str, bool]:
    app.add_transform(NamesLead)
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

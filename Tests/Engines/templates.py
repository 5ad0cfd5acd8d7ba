#!/usr/bin/env python3
"""Validates the templates of packaging/engines: `templates.py kubernetes|aws-batch`.

Each kind needs its own package of PyPI: kubernetes-validate, or botocore, which moto brings.
"""

import copy
import json
import sys
from pathlib import Path

ENGINES = Path(__file__).resolve().parents[2] / "packaging" / "engines"
# What a worker ends with if another attempt would end in the same way.
FINAL = [1, 2, 4, 5]
# 1.34 is the first version in which everything used is stable.
VERSIONS = ("1.34", "1.37")


def check(condition, what):
    if not condition:
        raise SystemExit(what)


def kubernetes():
    """The manifests fit the published schemas, and a worker is retried only where that can help."""
    import kubernetes_validate
    import yaml

    def validate(document):
        named = copy.deepcopy(document)
        # The schemas are for objects as they are stored, and the validator names them in its messages.
        named["metadata"].setdefault("name", named["metadata"].pop("generateName", None))
        for version in VERSIONS:
            kubernetes_validate.validate(named, version, strict=True)

    documents = {}
    for name in ("workers", "home"):
        for document in yaml.safe_load_all((ENGINES / "kubernetes" / f"{name}.yaml").read_text()):
            validate(document)
            documents[document["kind"]] = document
    wrong = copy.deepcopy(documents["Job"])
    wrong["spec"]["backoffLimitPerindex"] = 1
    try:
        validate(wrong)
    except kubernetes_validate.ValidationError:
        pass
    else:
        raise SystemExit("the schemas accept a misspelt key")

    workers = documents["Job"]["spec"]
    home = documents["CronJob"]["spec"]["jobTemplate"]["spec"]
    worker = workers["template"]["spec"]["containers"][0]
    check(worker["args"][-1] == f"auto/{workers['completions']}", "--shard has another number than completions")
    for job, action, statuses in ((workers, "FailIndex", FINAL), (home, "FailJob", FINAL + [8])):
        final, disruption = job["podFailurePolicy"]["rules"]
        pod = job["template"]["spec"]
        container = pod["containers"][0]
        check(final["action"] == action and final["onExitCodes"]["values"] == statuses, f"{action}: {final}")
        check(final["onExitCodes"]["containerName"] == container["name"], "the rule is for another container")
        check(disruption["action"] == "Ignore" and disruption["onPodConditions"][0]["type"] == "DisruptionTarget",
              f"a disruption counts: {disruption}")
        check(pod["restartPolicy"] == "Never" and job["podReplacementPolicy"] == "Failed", "two pods at a time")
        check(pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["runAsUser"] > 0, "it runs as root")
        check(container["securityContext"]["readOnlyRootFilesystem"], "its root file system can be written")
        # A link would be refused as a secret.
        check(all("subPath" in mount for mount in container["volumeMounts"] if mount["name"] == "secrets"),
              "a secret is a link")
    check(not workers["template"]["spec"]["automountServiceAccountToken"], "a worker can reach the cluster")
    check("sign" not in json.dumps(workers), "a worker has the signing key")


def batch():
    """The job definition fits botocore's model of AWS Batch, and a worker is retried only where that can help."""
    import botocore.session
    from botocore.validate import ParamValidator

    model = botocore.session.get_session().get_service_model("batch")
    shape = model.operation_model("RegisterJobDefinition").input_shape
    definition = json.loads((ENGINES / "aws-batch" / "worker.json").read_text())

    def faults(document):
        found = []

        def compare(value, shape, path):
            if shape.type_name == "structure":
                for name, member in value.items():
                    if name in shape.members:
                        compare(member, shape.members[name], f"{path}.{name}")
                    else:
                        found.append(f"{path}.{name} is unknown")
            elif shape.type_name == "list":
                for item in value:
                    compare(item, shape.member, path)
            elif getattr(shape, "enum", None) and value not in shape.enum:
                found.append(f"{path}: {value}")

        compare(document, shape, "")
        return ParamValidator().validate(document, shape).generate_report() or "\n".join(found)

    check(not faults(definition), faults(definition))
    check(faults({**definition, "retrystrategy": {}}), "the model accepts a misspelt key")
    check(faults({**definition, "type": "Container"}), "the model accepts an unknown type")
    retries = definition["retryStrategy"]
    rules = retries["evaluateOnExit"]
    check(len(rules) <= 5 and 1 <= retries["attempts"] <= 10, "AWS Batch takes five rules and ten attempts")
    # What no rule matches would be retried.
    check(rules[-1] == {"onReason": "*", "action": "EXIT"}, f"the last rule is {rules[-1]}")
    retried = {rule.get("onExitCode") for rule in rules if rule["action"] == "RETRY"}
    check("6" in retried and not retried & {str(status) for status in FINAL}, f"it retries {retried}")
    container = definition["containerProperties"]
    check(container["user"] not in ("root", "0") and container["readonlyRootFilesystem"], "it runs as root")
    check("sign" not in json.dumps(definition), "a worker has the signing key")


if __name__ == "__main__":
    {"kubernetes": kubernetes, "aws-batch": batch}[sys.argv[1]]()

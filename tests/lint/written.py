"""Policies as people write them, for tests of files."""

from __future__ import annotations

LEVEL = """\
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: PriorityLevelConfiguration
metadata:
  name: batch
spec:
  type: Limited
  limited:
    nominalConcurrencyShares: 5
    lendablePercent: 0
    borrowingLimitPercent: 0
    limitResponse:
      type: Queue
      queuing: {queues: 16, handSize: 2, queueLengthLimit: 10}
"""

SCHEMA = """\
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: FlowSchema
metadata:
  name: batch
spec:
  priorityLevelConfiguration:
    name: batch
  matchingPrecedence: 1000
  distinguisherMethod:
    type: ByNamespace
  rules:
  - subjects:
    - kind: ServiceAccount
      serviceAccount:
        name: reader
        namespace: ci
    resourceRules:
    - verbs: [list]
      apiGroups: [""]
      resources: [pods]
      namespaces: ["*"]
"""

WRONG = SCHEMA.replace("matchingPrecedence: 1000", "matchingPrecedence: 20000")
"""Refused for the precedence in line 8."""

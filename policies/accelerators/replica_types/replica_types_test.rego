package fleetgate.accelerators.replica_types_test

import data.fleetgate.accelerators.replica_types as rule

findings(kind, spec) := found if {
	found := rule.deny with input as {"object": {"apiVersion": "kubeflow.org/v1", "kind": kind, "spec": spec}, "workload": null}
}

pytorch(specs) := findings("PyTorchJob", {"pytorchReplicaSpecs": specs})

test_types_that_there_are if {
	pytorch({"Master": {}, "Worker": {}}) == set()
	pytorch({"master": {}, "WORKER": {}}) == set()
	findings("TFJob", {"tfReplicaSpecs": {"PS": {}, "Chief": {}, "evaluator": {}}}) == set()
	findings("MPIJob", {"mpiReplicaSpecs": {"Launcher": {}, "Worker": {}}}) == set()
	findings("JAXJob", {"jaxReplicaSpecs": {"Worker": {}}}) == set()
	findings("PaddleJob", {"paddleReplicaSpecs": {"Master": {}}}) == set()
	findings("XGBoostJob", {"xgbReplicaSpecs": {"Master": {}}}) == set()
}

test_types_that_there_are_not if {
	some finding in pytorch({"Master": {}, "Workers": {}})
	finding.msg == "`Workers` is no type of replicas of a PyTorchJob"
	finding.path == ["spec", "pytorchReplicaSpecs", "Workers"]
	finding.remediation == "write `Worker`"
}

test_types_of_other_jobs if {
	some finding in findings("JAXJob", {"jaxReplicaSpecs": {"Master": {}}})
	finding.remediation == "write `Worker`"
	some other in pytorch({"Launcher": {}})
	other.remediation == "write `Master` or `Worker`"
}

test_placeholders_and_wrong_types if {
	pytorch({"${TYPE}": {}}) == set()
	pytorch("x") == set()
	findings("PyTorchJob", "x") == set()
	findings("PyTorchJob", {}) == set()
	findings("SomethingElse", {"pytorchReplicaSpecs": {"x": {}}}) == set()
}

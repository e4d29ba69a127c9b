import { userInfo } from "node:os";
import { Command } from "commander";
import { printJson, printLine, printTable, type Table } from "../../shared/platform/cli/output.ts";
import { type AgentDescription, findAgent, listAgents } from "../records/agents/agents.ts";
import { auditCommand } from "../records/audit/audit.ts";
import { revokeKeyLine } from "../records/clinics/keys.ts";
import { type ClinicOption, clinicOption, type DataOption, dataOption, fpParser } from "./common/options.ts";
import { clinicIdOf, withStore } from "./common/with-store.ts";

const listCommand = new Command("list")
  .description("list the agents of clinic PCs with their last heartbeats")
  .addOption(clinicOption("agents of one clinic"))
  .option("--json", "print JSON")
  .addOption(dataOption())
  .action(list);

const revokeCommand = new Command("revoke")
  .argument("<fp>", "agent that agents list shows", fpParser("agent"))
  .description("end the access of a clinic PC immediately; its results wait there until it is paired again")
  .addOption(dataOption())
  .action(revoke);

export const agentsCommand = new Command("agents")
  .description("agents of clinic PCs; the dashboard pairs a new one under Devices")
  .addCommand(listCommand)
  .addCommand(revokeCommand);

async function list({ data, clinic, json }: DataOption & Partial<ClinicOption> & { json?: true }): Promise<void> {
  await withStore(data, async (store) => {
    // An unknown clinic is an error, not an empty list.
    if (clinic !== undefined) await clinicIdOf(store, clinic);
    const agents = await listAgents(store, clinic);
    if (json) printJson(agents);
    else await printTable(agentTable, agents);
  });
}

async function revoke(fp: string, { data }: DataOption): Promise<void> {
  await withStore(data, async (store) => {
    const now = Date.now();
    await store.transaction(async (session) => {
      const agent = await findAgent(session, fp);
      if (agent === undefined) throw new Error(`agent ${fp} does not exist, expected one of agents list`);
      await revokeKeyLine(session, agent.key, now);
      const actor = { by: userInfo().username, now, clinicId: agent.clinicId };
      await auditCommand(session, "agents revoke", [fp, agent.key], actor);
    });
    printLine(`${fp} is revoked`);
  });
}

const agentTable: Table<AgentDescription> = {
  head: ["AGENT", "CLINIC", "KEY", "PAIRING", "VERSION", "UPGRADE", "STATE", "NAME"],
  cells: ({ fp, clinic_fp, name, key, paired_at, last_heartbeat_at, version, upgrade, revoked_at }) => {
    const origin = paired_at === null ? "not paired" : `paired ${paired_at}`;
    const heard = last_heartbeat_at === null ? "never heard" : `heard ${last_heartbeat_at}`;
    const state = revoked_at === null ? heard : `revoked ${revoked_at}`;
    return [fp, clinic_fp, key, origin, version ?? "unknown", upgradeText(upgrade), state, name];
  },
};

function upgradeText(upgrade: AgentDescription["upgrade"]): string {
  if (upgrade === null) return "none";
  const { to, state, reason } = upgrade;
  return reason === null ? `${to} ${state}` : `${to} ${state}: ${reason}`;
}

import { changeMemberAccess, changeMemberFactor, requestLink } from '@svc/console-api/access-requests'
import { handOver } from '@svc/console-api/portal/handover-store'
import { MEMBER_ROLES } from '@svc/console-api/portal/member-roles'
import {
  inviteMember,
  isMemberName,
  LINK_HOURS,
  LINK_HOURS_MAX,
  listMembersOf,
  MEMBER_NAME_RULE,
  type Member,
  type MemberChange,
  memberStatus,
  renewLink,
} from '@svc/console-api/portal/member-store'
import { findTenant } from '@svc/core/tenants/tenant'
import type { Tx } from '@svc/platform/db/database'
import type { Command } from 'commander'
import { asAdministrator, WAITS } from './administrator.ts'
import { type CommandContext, withInstallation } from './context.ts'
import { addressOf, readHours } from './invitation-commands.ts'
import { readRole } from './operator-role.ts'
import { printRecord, printRows } from './print.ts'
import { UsageError } from './usage-error.ts'

interface Json {
  readonly json?: boolean
}

interface LinkOptions extends Json {
  readonly hours: string
}

interface InviteOptions extends LinkOptions {
  readonly role: string
  readonly handOver?: boolean
  readonly sharedKey?: boolean
}

const HOURS = ['--hours <hours>', `how long the link works, 1 to ${LINK_HOURS_MAX}`, `${LINK_HOURS}`] as const
const TENANT = 'id of the merchant or partner'

export function addMemberCommands(program: Command): void {
  const member = program.command('member').description('people of a merchant or partner who use the portal')
  member
    .command('invite')
    .argument('<tenantId>', TENANT)
    .argument('<name>', 'name with which the person signs in, such as an e-mail address')
    .description('print a link with which a person chooses a password for the portal; it works once')
    .option('--role <role>', `what they may do: ${MEMBER_ROLES.join(', ')}`, 'admin')
    .option('--hand-over', 'issue credentials, too, when the person opens the link, and show them there once')
    .option('--shared-key', 'with --hand-over, of partners: include a shared encryption key')
    .option(...HOURS)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
viewer sees what is the tenant's; operator also makes codes, refunds and holders; admin also manages keys, webhooks
and members. The link is shown this one time.

Example:
  svc admin member invite mer_01jqzyxk5n9b4w2m7t3v8c6d0f asha@shop.example`,
    )
    .action(invite)
  member
    .command('link')
    .argument('<tenantId>', TENANT)
    .argument('<name>', 'name or id of the member')
    .description('print another link, for a member who lost the link or the password')
    .option(...HOURS)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  svc admin member link mer_01jqzyxk5n9b4w2m7t3v8c6d0f asha@shop.example',
    )
    .action(link)
  member
    .command('list')
    .argument('<tenantId>', TENANT)
    .description('list the members of a tenant')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin member list mer_01jqzyxk5n9b4w2m7t3v8c6d0f')
    .action(list)
  addChanges(member)
  addReset(member)
}

function addChanges(member: Command): void {
  for (const [name, disabled, description] of [
    ['disable', true, 'no more sign-in; sessions and link end at once in every process'],
    ['enable', false, 'undo disable'],
  ] as const)
    member
      .command(name)
      .argument('<tenantId>', TENANT)
      .argument('<name>', 'name or id of the member')
      .description(description)
      .option('--json', 'print JSON')
      .addHelpText(
        'after',
        `\nExample:\n  svc admin member ${name} mer_01jqzyxk5n9b4w2m7t3v8c6d0f asha@shop.example`,
      )
      .action((tenantId: string, who: string, { json = false }: Json) =>
        change(tenantId, who, { disabled }, json),
      )
  member
    .command('role')
    .argument('<tenantId>', TENANT)
    .argument('<name>', 'name or id of the member')
    .argument('<role>', MEMBER_ROLES.join(', '))
    .description('change what a member may do; sessions end')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  svc admin member role mer_01jqzyxk5n9b4w2m7t3v8c6d0f asha@shop.example viewer',
    )
    .action((tenantId: string, who: string, role: string, { json = false }: Json) =>
      change(tenantId, who, { role: readRole(role, MEMBER_ROLES) }, json),
    )
}

function addReset(member: Command): void {
  member
    .command('reset-second-factor')
    .argument('<tenantId>', TENANT)
    .argument('<name>', 'name or id of the member')
    .description(
      'the authenticator app of a member is asked no more, in live mode once a second administrator approves; sessions end then',
    )
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  svc admin member reset-second-factor mer_01jqzyxk5n9b4w2m7t3v8c6d0f asha@shop.example',
    )
    .action(resetSecondFactor)
}

const shown = (member: Member) => ({
  memberId: member.memberId,
  name: member.name,
  role: member.role,
  status: memberStatus(member),
  createdAt: member.createdAt,
  createdBy: member.createdBy,
  lastSignInAt: member.lastSignInAt,
  linkExpiresAt: member.linkExpiresAt,
  secondFactor: member.hasSecondFactor,
})

const toolsOf = ({ keyMaker: { keyring, random } }: CommandContext) => ({ keyring, random, now: new Date() })

async function requireTenant(tx: Tx, tenantId: string): Promise<void> {
  if (!(await findTenant(tx, tenantId)))
    throw new UsageError(
      `There is no tenant ${tenantId}. See them with: svc admin merchant list, svc admin partner list`,
    )
}

const noSuch = (tenantId: string, who: string): never => {
  throw new UsageError(
    `There is no member ${who} of ${tenantId}. See them with: svc admin member list ${tenantId}`,
  )
}

async function invite(
  tenantId: string,
  name: string,
  { role: text, hours: wanted, handOver: hands = false, sharedKey = false, json = false }: InviteOptions,
): Promise<void> {
  const role = readRole(text, MEMBER_ROLES)
  const hours = readHours(wanted)
  if (!isMemberName(name)) throw new UsageError(`The name ${MEMBER_NAME_RULE}`)
  if (hands && role !== 'admin') throw new UsageError('--hand-over goes to an administrator: --role admin')
  if (sharedKey && !(hands && tenantId.startsWith('par_')))
    throw new UsageError('--shared-key needs --hand-over and a partner')
  const made = await asAdministrator('member invite', async (tx, context, createdBy) => {
    await requireTenant(tx, tenantId)
    const requested = { tenantId, name, hours, createdBy, publicUrl: addressOf(context.config) }
    const linked = hands
      ? await handOver(tx, toolsOf(context), { ...requested, sharedKey })
      : await inviteMember(tx, toolsOf(context), { ...requested, role })
    return { ...linked, approvalId: await askFor(tx, context, createdBy, linked.member) }
  })
  printLink(made, json)
}

async function link(
  tenantId: string,
  who: string,
  { hours: wanted, json = false }: LinkOptions,
): Promise<void> {
  const hours = readHours(wanted)
  const renewed = await asAdministrator('member link', async (tx, context, actor) => {
    const requested = { tenantId, who, hours, publicUrl: addressOf(context.config) }
    const linked = (await renewLink(tx, toolsOf(context), requested)) ?? noSuch(tenantId, who)
    return { ...linked, approvalId: await askFor(tx, context, actor, linked.member) }
  })
  printLink(renewed, json)
}

const askFor = (tx: Tx, context: CommandContext, actor: string, member: Member) =>
  requestLink(tx, { ...toolsOf(context), config: context.config }, { actor }, member)

interface Linked {
  readonly member: Member
  readonly link: string
  readonly approvalId: string | undefined
}

function printLink({ approvalId, link: address, member }: Linked, json: boolean): void {
  printRecord({ ...shown(member), link: address, ...(approvalId && { approvalId }) }, json)
  if (approvalId !== undefined && !json) process.stderr.write(`${WAITS}\n`)
}

async function list(tenantId: string, { json = false }: Json): Promise<void> {
  const members = await withInstallation(({ database }) =>
    database.operate(async (tx) => {
      await requireTenant(tx, tenantId)
      return listMembersOf(tx, tenantId)
    }),
  )
  printRows(members.map(shown), json)
}

async function change(tenantId: string, who: string, what: MemberChange, json: boolean): Promise<void> {
  const changed = await asAdministrator('member change', (tx, context, actor) => {
    const tools = { ...toolsOf(context), config: context.config }
    return changeMemberAccess(tx, tools, { actor }, { tenantId, who, change: what })
  })
  const { approvalId, member } = changed ?? noSuch(tenantId, who)
  printRecord({ ...shown(member), ...(approvalId && { approvalId }) }, json)
  if (approvalId !== undefined && !json) process.stderr.write(`${WAITS}\n`)
}

async function resetSecondFactor(tenantId: string, who: string, { json = false }: Json): Promise<void> {
  const reset = await asAdministrator('member reset-second-factor', (tx, context, actor) =>
    changeMemberFactor(tx, { ...toolsOf(context), config: context.config }, { actor }, { tenantId, who }),
  )
  const { approvalId, member, removed } = reset ?? noSuch(tenantId, who)
  printRecord({ ...shown(member), reset: removed, ...(approvalId && { approvalId }) }, json)
  if (approvalId !== undefined && !json) process.stderr.write(`${WAITS}\n`)
}

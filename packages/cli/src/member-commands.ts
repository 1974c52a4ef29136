import {
  changeMemberAccess,
  changeMemberFactor,
  requestLink,
} from '@svc/console-api/identity/access-requests'
import { handOver } from '@svc/console-api/portal/handover-store'
import { member as memberNoun, memberToWire } from '@svc/console-api/portal/member-records'
import { MEMBER_ROLES } from '@svc/console-api/portal/member-roles'
import {
  inviteMember,
  isMemberName,
  LINK_HOURS,
  LINK_HOURS_MAX,
  MEMBER_NAME_RULE,
  type Member,
  type MemberChange,
  renewLink,
} from '@svc/console-api/portal/member-store'
import { findTenant } from '@svc/core/tenants/tenant'
import type { Tx } from '@svc/platform/db/database'
import type { Command } from 'commander'
import { asAdministrator, WAITS } from './administrator.ts'
import { addressOf, type CommandContext } from './context.ts'
import { readHours } from './invitation-commands.ts'
import { addNounList, printNoun } from './noun-commands.ts'
import { readRole } from './operator-role.ts'
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
  addNounList<Member>(member, memberNoun, {
    by: 'tenantId',
    limit: 500,
    description: 'list the members of a tenant, or of all',
    example: 'svc admin member list mer_01jqzyxk5n9b4w2m7t3v8c6d0f',
  })
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

const shownIn =
  ({ config }: CommandContext) =>
  (member: Member) =>
    memberToWire(member, config.BUSINESS_TIME_ZONE)

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
  const invited = await asAdministrator('member invite', async (tx, context, createdBy) => {
    await requireTenant(tx, tenantId)
    const requested = { tenantId, name, hours, createdBy, publicUrl: addressOf(context.config) }
    const { member, link: address } = hands
      ? await handOver(tx, toolsOf(context), { ...requested, sharedKey })
      : await inviteMember(tx, toolsOf(context), { ...requested, role })
    const approvalId = await askFor(tx, context, createdBy, member)
    return { ...shownIn(context)(member), link: address, ...(approvalId && { approvalId }) }
  })
  printWaiting(invited, json)
}

async function link(
  tenantId: string,
  who: string,
  { hours: wanted, json = false }: LinkOptions,
): Promise<void> {
  const hours = readHours(wanted)
  const renewed = await asAdministrator('member link', async (tx, context, actor) => {
    const requested = { tenantId, who, hours, publicUrl: addressOf(context.config) }
    const { member, link: address } =
      (await renewLink(tx, toolsOf(context), requested)) ?? noSuch(tenantId, who)
    const approvalId = await askFor(tx, context, actor, member)
    return { ...shownIn(context)(member), link: address, ...(approvalId && { approvalId }) }
  })
  printWaiting(renewed, json)
}

const askFor = (tx: Tx, context: CommandContext, actor: string, member: Member) =>
  requestLink(tx, { ...toolsOf(context), config: context.config }, { actor }, member)

interface Waiting {
  readonly approvalId?: string
  readonly [field: string]: unknown
}

function printWaiting(record: Waiting, json: boolean): void {
  printNoun(record, json)
  if (record.approvalId !== undefined && !json) process.stderr.write(`${WAITS}\n`)
}

async function change(tenantId: string, who: string, what: MemberChange, json: boolean): Promise<void> {
  const changed = await asAdministrator('member change', async (tx, context, actor) => {
    const tools = { ...toolsOf(context), config: context.config }
    const { approvalId, member } =
      (await changeMemberAccess(tx, tools, { actor }, { tenantId, who, change: what })) ??
      noSuch(tenantId, who)
    return { ...shownIn(context)(member), ...(approvalId && { approvalId }) }
  })
  printWaiting(changed, json)
}

async function resetSecondFactor(tenantId: string, who: string, { json = false }: Json): Promise<void> {
  const reset = await asAdministrator('member reset-second-factor', async (tx, context, actor) => {
    const tools = { ...toolsOf(context), config: context.config }
    const { member, ...more } =
      (await changeMemberFactor(tx, tools, { actor }, { tenantId, who })) ?? noSuch(tenantId, who)
    return { ...more, member: shownIn(context)(member) }
  })
  const { approvalId, member, removed } = reset
  printWaiting({ ...member, reset: removed, ...(approvalId && { approvalId }) }, json)
}

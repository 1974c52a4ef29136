import { handOverCredentials } from '@svc/console-api/faces/handover-operations'
import { tenantMembers } from '@svc/console-api/faces/member-operations'
import { member as memberNoun } from '@svc/console-api/portal/member-records'
import type { Member } from '@svc/console-api/portal/member-store'
import type { Command } from 'commander'
import { addNounList } from './noun-commands.ts'
import { addOperation, waitsForAdministrator } from './operation-command.ts'

const MEMBER = 'mer_01jqzyxk5n9b4w2m7t3v8c6d0f asha@shop.example'
const note = waitsForAdministrator

export function addMemberCommands(program: Command): void {
  const member = program.command('member').description('people of a merchant or partner who use the portal')
  addLinks(member)
  addNounList<Member>(member, memberNoun, {
    by: 'tenantId',
    limit: 500,
    description: 'list the members of a tenant, or of all',
    example: 'svc admin member list mer_01jqzyxk5n9b4w2m7t3v8c6d0f',
  })
  addOperation(member, tenantMembers.change, {
    note,
    name: 'disable',
    given: { role: undefined, disabled: true },
    description: 'no more sign-in, by name or id; sessions and link end at once in every process',
    example: `svc admin member disable ${MEMBER}`,
  })
  addOperation(member, tenantMembers.change, {
    note,
    name: 'enable',
    given: { role: undefined, disabled: false },
    description: 'undo disable, by name or id',
    example: `svc admin member enable ${MEMBER}`,
  })
  addOperation(member, tenantMembers.change, {
    note,
    name: 'role',
    by: ['role'],
    given: { disabled: undefined },
    description: 'change what a member may do, by name or id; sessions end',
    example: `svc admin member role ${MEMBER} viewer`,
  })
  addOperation(member, tenantMembers.resetFactor, {
    note,
    name: 'reset-second-factor',
    description:
      'the authenticator app of a member, by name or id, is asked no more and passkeys stop working, in live mode once a second administrator approves; sessions end then',
    example: `svc admin member reset-second-factor ${MEMBER}`,
  })
}

function addLinks(member: Command): void {
  addOperation(member, tenantMembers.invite, {
    note,
    name: 'invite',
    by: ['name'],
    flags: { role: { value: 'admin' } },
    description: 'print a link with which a person chooses a password for the portal; it works once',
    more: `viewer sees what is the tenant's; operator also makes codes, refunds and holders; admin also manages keys, webhooks
and members. The link is shown this one time.`,
    example: `svc admin member invite ${MEMBER}`,
  })
  addOperation(member, handOverCredentials, {
    note,
    name: 'hand-over',
    by: ['name'],
    description:
      'print a link of an administrator that also issues credentials, when the person opens it, and shows them there once',
    example: [
      `svc admin member hand-over ${MEMBER}`,
      'svc admin member hand-over par_… meera@partner.example --shared-key',
    ],
  })
  addOperation(member, tenantMembers.renewLink, {
    note,
    name: 'link',
    description: 'print another link, for a member, by name or id, who lost the link or the password',
    example: `svc admin member link ${MEMBER}`,
  })
}

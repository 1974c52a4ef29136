import {
  accessRequest,
  approveAccessRequest,
  type ListedAccessRequest,
  rejectAccessRequest,
} from '@svc/console-api/identity/access-request-operations'
import {
  invitation,
  inviteOperator,
  linkOperator,
  revokeInvitation,
} from '@svc/console-api/identity/invitation-operations'
import { changeOperator, operator as operatorNoun } from '@svc/console-api/identity/operator-operations'
import { findOperator, type OperatorAccount } from '@svc/console-api/identity/operator-store'
import {
  removeOperatorPasskeys,
  resetSecondFactor,
  unlinkOperator,
} from '@svc/console-api/identity/ways-to-sign-in'
import type { Command } from 'commander'
import { addNounList } from './noun-commands.ts'
import { addOperation, type CommandFace, waitsForAdministrator } from './operation-command.ts'

/** People name operators by their names. */
const byName: NonNullable<CommandFace['resolve']> = async (given, { database }) => {
  const found = await database.operate((tx) => findOperator(tx, given['operatorId'] as string))
  return found ? { ...given, operatorId: found.operatorId } : given
}

const CHANGES = { asOwner: true, note: waitsForAdministrator } as const
const CHANGES_ONE = { ...CHANGES, resolve: byName } as const
const NOTHING_ELSE = { role: undefined, disabled: undefined }

export function addOperatorCommands(program: Command): void {
  const operator = program.command('operator').description('people who may use the console')
  addNounList<OperatorAccount>(operator, operatorNoun, {
    limit: 500,
    description: 'list all operators',
    example: 'svc admin operator list --status active',
  })
  addOperation(operator, changeOperator, {
    ...CHANGES_ONE,
    name: 'disable',
    given: { ...NOTHING_ELSE, disabled: true },
    description: 'no more sign-in, by name or id; sessions end at once in every process',
    example: 'svc admin operator disable asha',
  })
  addOperation(operator, changeOperator, {
    ...CHANGES_ONE,
    name: 'enable',
    given: { ...NOTHING_ELSE, disabled: false },
    description: 'undo disable, by name or id',
    example: 'svc admin operator enable asha',
  })
  addOperation(operator, changeOperator, {
    ...CHANGES_ONE,
    name: 'role',
    by: ['role'],
    given: { disabled: undefined },
    description: 'change what an operator may do, by name or id; less than before ends their sessions',
    example: 'svc admin operator role asha operator',
  })
  addWaysToSignIn(operator)
  addInvitationCommands(operator)
  addAccessRequestCommands(operator)
}

function addWaysToSignIn(operator: Command): void {
  addOperation(operator, unlinkOperator, {
    ...CHANGES_ONE,
    name: 'unlink',
    description:
      'forget whom the identity provider knows an operator as, by name or id; the next sign-in by the name links again, sessions end',
    example: 'svc admin operator unlink asha@example.com',
  })
  addOperation(operator, removeOperatorPasskeys, {
    ...CHANGES_ONE,
    name: 'remove-passkeys',
    description:
      'all passkeys of an operator, by name or id, stop working; sessions end at once in every process',
    example: 'svc admin operator remove-passkeys asha',
  })
  addOperation(operator, resetSecondFactor, {
    ...CHANGES_ONE,
    name: 'reset-second-factor',
    description:
      'the authenticator app of an operator, by name or id, is asked no more; sessions end at once in every process',
    example: 'svc admin operator reset-second-factor asha',
  })
}

function addInvitationCommands(operator: Command): void {
  addOperation(operator, inviteOperator, {
    ...CHANGES,
    name: 'invite',
    by: ['name'],
    flags: { role: { value: 'viewer' } },
    description: 'print a link with which a person becomes an operator and chooses a password; it works once',
    more: `viewer sees everything, with personal data masked; auditor also verifies; support handles cards and codes, finance
moves money, operations manages tenants and credentials; operator does what these three do; admin also manages operators.
In live mode the link works once a second administrator has approved it, but for viewer and auditor.
The link is shown this one time: the database has only a digest of it. Its address is PUBLIC_URL.`,
    example: [
      'svc admin operator invite ravi --role operator',
      'svc admin operator invite asha --role admin --as-owner     (the first administrator)',
      'svc admin operator invite ravi@example.com --hours 8',
    ],
  })
  addNounList(operator, invitation, {
    name: 'invitations',
    limit: 500,
    description: 'list invitations, by default those that were neither accepted nor revoked',
    example: 'svc admin operator invitations',
  })
  addOperation(operator, revokeInvitation, {
    name: 'revoke-invitation',
    description: 'the link of an invitation, by its name or id, stops working at once',
    example: 'svc admin operator revoke-invitation ravi',
  })
  addOperation(operator, linkOperator, {
    ...CHANGES_ONE,
    name: 'password-link',
    description:
      'print a link with which an operator, by name or id, chooses another password; it works once, sessions end then',
    more: `A second factor stays: the link replaces the password alone. In live mode it works once a second administrator has
approved it.`,
    example: 'svc admin operator password-link ravi',
  })
}

/** What a second administrator decides (decision R10). */
function addAccessRequestCommands(operator: Command): void {
  addNounList<ListedAccessRequest>(operator, accessRequest, {
    name: 'requests',
    limit: 500,
    description: 'list changes of who may act, by default those that wait for a second administrator',
    example: 'svc admin operator requests',
  })
  addOperation(operator, approveAccessRequest, {
    name: 'approve',
    description: 'approve a change that another administrator requested; it happens at once',
    example: 'svc admin operator approve apv_…',
  })
  addOperation(operator, rejectAccessRequest, {
    name: 'reject',
    description: 'reject a change that waits for a second administrator',
    example: 'svc admin operator reject apv_…',
  })
}

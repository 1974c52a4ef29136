import { fail } from '@svc/contract/errors'
import { ByTenant, byTenant } from '@svc/kernel/by-tenant'
import { invariant } from '@svc/kernel/invariant'
import { command } from '@svc/platform/command'
import type { BatchTx } from '@svc/platform/db/batch'
import type { Tx } from '@svc/platform/db/database'
import { columns, statement } from '@svc/platform/db/statement'
import { cardAccounts } from './card-account.ts'
import {
  drawVirtualAccounts,
  type VirtualAccount,
  virtualAccountPrefix,
  virtualAccounts,
} from './virtual-account.ts'

interface OpenVirtualAccount {
  readonly partnerId: string
  readonly cardAccountId: string
}

interface Prepared extends OpenVirtualAccount {
  readonly tenantId: string
  /** The first that is free is used. */
  readonly drawn: readonly string[]
}

interface State {
  readonly accounts: Map<string, { readonly cardAccountId: string }>
  readonly known: Map<string, VirtualAccount>
  /** Of whatever partner. */
  readonly taken: Set<string>
}

interface Opened {
  readonly opened: VirtualAccount
  readonly isNew: boolean
}

const LOCK = cardAccounts.lock('to_number')
const KNOWN = statement<VirtualAccount>(
  'virtual_accounts_known',
  `select ${virtualAccounts.columns} from virtual_accounts v
   where (v.partner_id, v.card_account_id) in (select * from unnest($1::text[], $2::text[]))`,
)
const TAKEN = statement<{ number: string }>(
  'virtual_accounts_taken',
  'select number from directory_virtual_accounts($1)',
)
const FIND = statement<VirtualAccount>(
  'virtual_account_of',
  `select ${virtualAccounts.columns} from virtual_accounts v where v.partner_id = $1 and v.card_account_id = $2`,
)

export const findVirtualAccount = async (
  tx: Tx,
  partnerId: string,
  cardAccountId: string,
): Promise<VirtualAccount | undefined> => (await tx.query(FIND, [partnerId, cardAccountId]))[0]

/** Gives a card account its number, once: accounts of earlier versions have none (decision R15). */
export const openVirtualAccount = command({
  name: 'openVirtualAccount',

  prepare:
    ({ config, keyring, random }) =>
    (args: OpenVirtualAccount): Prepared => ({
      ...args,
      tenantId: args.partnerId,
      drawn: drawVirtualAccounts(virtualAccountPrefix(config.VIRTUAL_ACCOUNT_PREFIX, keyring.home), random),
    }),

  lock,

  decide({ accounts, known, taken }, { partnerId, cardAccountId, drawn }, createdAt): Opened {
    if (!accounts.has(cardAccountId)) fail('card_account_not_found')
    const before = known.get(cardAccountId)
    if (before) return { opened: before, isNew: false }
    const number = drawn.find((each) => !taken.has(each))
    invariant(number, 'every drawn virtual account number is taken: set another VIRTUAL_ACCOUNT_PREFIX')
    return { opened: { partnerId, cardAccountId, number, createdAt }, isNew: true }
  },

  apply({ known, taken }, { opened }) {
    known.set(opened.cardAccountId, opened)
    taken.add(opened.number)
  },

  save: (tx, decisions) =>
    virtualAccounts.insert(
      tx,
      decisions.flatMap(({ opened, isNew }) => (isNew ? [opened] : [])),
    ),
})

async function lock(tx: BatchTx, commands: readonly Prepared[]): Promise<ByTenant<State>> {
  // In this order: a transaction that holds the card accounts sees the numbers that others gave them.
  const [accounts, found, rows] = await Promise.all([
    cardAccounts.lockRows<{ readonly cardAccountId: string; readonly partnerId: string }>(tx, LOCK, commands),
    tx.query(
      KNOWN,
      columns(
        commands,
        ({ partnerId }) => partnerId,
        ({ cardAccountId }) => cardAccountId,
      ),
    ),
    tx.query(TAKEN, [commands.flatMap(({ drawn }) => drawn)]),
  ])
  const known = byTenant(
    found,
    ({ partnerId }) => partnerId,
    ({ cardAccountId }) => cardAccountId,
    (each) => each,
  )
  const taken = new Set(rows.map(({ number }) => number))
  return new ByTenant((tenantId) => ({ accounts: accounts.of(tenantId), known: known.of(tenantId), taken }))
}

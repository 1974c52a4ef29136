import { queryClient } from '../session.ts'

/** What goes to the bank in files. */
export type Kind = 'payouts' | 'refunds'

export interface OfKind {
  readonly kind: Kind
}

export const ONE = { payouts: 'payout', refunds: 'refund' } as const

/** What was sent, or came back, is read again. */
export const filesChanged = async (kind: Kind): Promise<void> => {
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: ['bank-runs', kind] }),
    queryClient.invalidateQueries({ queryKey: [kind] }),
  ])
}

import { api, responseOf } from '../api.ts'
import { queryClient } from '../session.ts'

/** What goes to the bank in files. */
export type Kind = 'payouts' | 'refunds'

export interface OfKind {
  readonly kind: Kind
}

/** A file with these columns; each field under its own name where none are given. */
export interface OfFile extends OfKind {
  readonly columns: string
}

export const ONE = { payouts: 'payout', refunds: 'refund' } as const

export const asked = ({ columns }: OfFile) => (columns === '' ? {} : { columns })

export const runsQuery = (of: OfFile) => ({
  queryKey: ['bank-runs', of.kind, of.columns],
  queryFn: () =>
    responseOf(api.GET('/bank-runs/{kind}', { params: { path: { kind: of.kind }, query: asked(of) } })),
})

/** What was sent, or came back, is read again. */
export const filesChanged = async (kind: Kind): Promise<void> => {
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: ['bank-runs', kind] }),
    queryClient.invalidateQueries({ queryKey: [kind] }),
  ])
}

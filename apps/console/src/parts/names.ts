import { useQuery } from '@tanstack/react-query'
import { api, responseOf, type Schemas } from '../api.ts'
import { type Kind, kindOf, PLATFORM_TENANT, shortId } from '../objects.ts'
import { sentenceCase } from '../words.ts'

const TOGETHER_MAX = 50
const STALE_MS = 300_000

type Named = Schemas['SearchResult']

/** Ids that are asked for in one request: those that one page shows. */
interface Batch {
  readonly ids: Set<string>
  readonly names: Promise<ReadonlyMap<string, Named>>
}
let next: Batch | undefined

function newBatch(): Batch {
  const ids = new Set<string>()
  const names = new Promise((resolve) => setTimeout(resolve)).then(async () => {
    if (next === batch) next = undefined
    const query = { ids: [...ids].join(',') }
    const { results } = await responseOf(api.GET('/names', { params: { query } }))
    return new Map(results.map((named) => [named.id, named]))
  })
  const batch = { ids, names }
  return batch
}

async function nameOf(id: string): Promise<Named | null> {
  if (!next || next.ids.size >= TOGETHER_MAX) next = newBatch()
  next.ids.add(id)
  return (await next.names).get(id) ?? null
}

/** How a kind of thing is called by its title, where that is not enough. */
const CALLED: Readonly<Partial<Record<Kind, (title: string) => string>>> = {
  payment: (utr) => `UTR ${utr}`,
  refund: (reference) => `Refund ${reference}`,
  user: (name) => (name.startsWith('usr_') ? 'A holder without a name' : name),
  journal: (kind) => `${sentenceCase(kind)} journal`,
}

/** Failed requests are in a log of their own, and have no other name. */
export const hasName = (id: string): boolean => {
  const kind = kindOf(id)
  return kind !== undefined && kind !== 'request'
}

export interface Name {
  /** `undefined` until it is there, and where there is none. */
  readonly name: string | undefined
  readonly isPending: boolean
}

/** What an id stands for, in words; of a ledger account its kind and its owner. */
export function useName(id: string): Name {
  const isAccount = kindOf(id) === 'ledgerAccount'
  const [account = '', owner = ''] = isAccount ? id.split(':') : ['', id]
  const enabled = hasName(owner)
  const { data, isPending } = useQuery({
    queryKey: ['names', owner],
    queryFn: () => nameOf(owner),
    staleTime: STALE_MS,
    retry: false,
    enabled,
  })
  const called = data && (CALLED[data.kind]?.(data.title) ?? data.title)
  const name = isAccount
    ? [sentenceCase(account), owner === PLATFORM_TENANT ? undefined : (called ?? shortId(owner))]
        .filter(Boolean)
        .join(' ')
    : (called ?? undefined)
  return { name, isPending: enabled && isPending }
}

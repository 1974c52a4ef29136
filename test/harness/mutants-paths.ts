import { CARD, type Mutant, SEARCH, TOKEN } from './mutant.ts'
import type { ProxiedRequest } from './mutant-proxy.ts'

const missing = (
  id: string,
  words: string,
  on: (request: ProxiedRequest) => boolean,
  also: RegExp,
): Mutant => ({
  name: `${words} is not there`,
  edit: (request) => void (on(request) && (request.path = '/nowhere')),
  fails: [`9.path.${id}`],
  also,
})

/** Servers that lack a path, or say less of their paths than they have. */
export const pathMutants = (): readonly Mutant[] => [
  missing('token', 'the token operation', ({ path }) => path === TOKEN, /^[24578]\.|^9\.exact$/),
  missing('cancel', 'the cancel', ({ path }) => path.endsWith('/cancel'), /^[24578]\./),
  missing('create', 'the card creation', ({ path }) => path === CARD, /^[4578]\./),
  missing('search', 'the card search', ({ path }) => path === SEARCH, /^[457]\./),
  {
    name: 'the document of all operations lacks the coin lookup',
    report(reported, { path }) {
      if (path === '/openapi.json') delete reported.json.paths['/api/v0/svc-coins/{coinConfigId}']
    },
    fails: ['9.openapi'],
  },
  {
    name: 'the document of all operations is not served',
    edit: (request) => void (request.path === '/openapi.json' && (request.path = '/nowhere')),
    fails: ['9.openapi'],
  },
]

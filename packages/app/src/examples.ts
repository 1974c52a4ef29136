import type { Examples } from '@svc/server/http/worked-examples'
import recorded from './examples.json' with { type: 'json' }

/** Requests and responses by operation, recorded from the service by `npm run generate:examples`. */
export const EXAMPLES: Examples = recorded

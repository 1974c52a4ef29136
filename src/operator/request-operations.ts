import { Type } from 'typebox'
import { FAILURES } from '../errors.ts'
import { SEAL_FAULTS } from '../platform/crypto/seal-fault.ts'
import { query } from '../platform/http/operation.ts'
import {
  CONSOLE_API,
  consoleOperation,
  exact,
  idParam,
  instant,
  listOf,
  listQuery,
  maybe,
  oneOf,
  record,
  since,
  text,
} from './console-schema.ts'
import { later } from './later.ts'

const TAG = 'Requests'
const PATH = `${CONSOLE_API}/requests`
const words = Object.keys(FAILURES)

const fields = {
  requestId: text(),
  at: instant,
  operation: text('`none` when none was found'),
  kind: Type.Enum(['command', 'read']),
  method: text(),
  path: text('Without the query string'),
  status: Type.Integer(),
  durationMs: Type.Number(),
  error: Type.Optional(Type.Enum(words)),
  tenantId: maybe('Absent when nobody was authenticated'),
}

export const listRequests = query({
  ...consoleOperation,
  id: 'listRequests',
  method: 'GET',
  path: PATH,
  tag: TAG,
  summary: 'List logged requests',
  description:
    'Every failure and every command of the last days, and a sample of the reads. Written in the background: a request shows up within seconds.',
  role: 'viewer',
  query: listQuery(['-at'], {
    q: exact('Request id, exactly'),
    outcome: oneOf(['failure', 'success'], 'Only these'),
    error: oneOf(words, 'Failed with this word'),
    operation: exact('Of this operation, by its id'),
    tenantId: exact('Of this merchant or partner'),
    objectId: exact('Touched this card, QR code, payment …', 128),
    from: since('At this instant or later'),
    to: since('Before this instant'),
  }),
  result: listOf(record('LoggedRequest', fields)),
  errors: [],
  mount: later,
})

export const showRequest = query({
  ...consoleOperation,
  id: 'showRequest',
  method: 'GET',
  path: `${PATH}/:requestId`,
  tag: TAG,
  summary: 'Show logged request',
  role: 'viewer',
  params: idParam('requestId'),
  result: record('LoggedRequestDetail', {
    ...fields,
    description: maybe('What the caller was told, for failures'),
    address: maybe('The caller’s address'),
    bodyBytes: Type.Optional(Type.Integer()),
    body: Type.Optional(
      Type.Unknown({
        description:
          'The body by its schema: only known fields, secrets never, personal data masked, long text cut',
      }),
    ),
    seal: Type.Optional(
      record('LoggedSeal', {
        kid: maybe(),
        alg: maybe(),
        enc: maybe(),
        opened: Type.Boolean(),
        failedCheck: Type.Optional(Type.Enum(Object.keys(SEAL_FAULTS))),
        explanation: maybe('Which check failed, in words; also in live mode'),
      }),
    ),
    objects: Type.Array(
      record('TouchedObject', {
        kind: Type.Enum([
          'card',
          'qrCode',
          'merchant',
          'partner',
          'company',
          'cardAccount',
          'user',
          'coinConfig',
          'other',
        ]),
        id: text(),
      }),
      { description: 'What it named or made; link them' },
    ),
    help: Type.Optional(
      record('ErrorHelp', {
        description: text(),
        remedy: text('What the caller does about it'),
        href: text('Of the error reference, such as `/docs/errors#seal_rejected`'),
      }),
    ),
  }),
  errors: ['request_not_found'],
  mount: later,
})

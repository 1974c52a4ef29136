import { Alert, Button, Group, Text } from '@mantine/core'
import { asCallFailed, type CallFailed } from '../failure.ts'
import { Copy } from './copy.tsx'
import { WarningIcon } from './icons.tsx'

interface FailureAlertProps {
  readonly failed: unknown
  readonly retry?: (() => void) | undefined
}

const TITLES: Readonly<Record<string, string>> = {
  not_reached: 'No response',
  role_too_low: 'Not allowed with your role',
}

const SAID: Readonly<Record<string, string>> = {
  // The form was sent, its response lost, and then sent with something else in it.
  idempotency_key_reused:
    'This form was carried out before, with the values that it had then. Close it, and check the result.',
}

const titleOf = ({ status, code }: CallFailed) =>
  TITLES[code] ?? (status >= 500 ? 'The service could not do this' : status === 404 ? 'Not found' : 'Refused')

/** What went wrong in the service's own words, with the request id to ask about. */
export function FailureAlert({ failed, retry }: FailureAlertProps) {
  const { code, message, requestId, status } = asCallFailed(failed)
  return (
    <Alert color="red" icon={<WarningIcon />} title={titleOf(asCallFailed(failed))} role="alert">
      <Text size="sm">{SAID[code] ?? message}</Text>
      <Group gap="xs" mt={4}>
        <Text size="xs" ff="monospace">
          {code}
          {status > 0 && ` · ${status}`}
          {requestId && ` · ${requestId}`}
        </Text>
        {requestId && <Copy text={requestId} what="request id" />}
        {retry && (
          <Button size="compact-xs" variant="default" onClick={retry}>
            Try again
          </Button>
        )}
      </Group>
    </Alert>
  )
}

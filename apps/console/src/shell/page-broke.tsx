import { Container } from '@mantine/core'
import type { ErrorComponentProps } from '@tanstack/react-router'
import { FailureAlert } from '../parts/failure-alert.tsx'

/** A page that could not be shown: its script did not load, or failed. The rest of the console still works. */
export function PageBroke({ error, reset }: ErrorComponentProps) {
  return (
    <Container size="sm" py="xl">
      <FailureAlert failed={error} retry={reset} />
    </Container>
  )
}

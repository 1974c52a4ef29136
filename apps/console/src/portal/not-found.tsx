import { NoSuchPage } from '../shell/no-such-page.tsx'
import { useAreas } from './areas.ts'

/** With the places of who is signed in. */
export const NotFound = () => <NoSuchPage areas={useAreas()} />
